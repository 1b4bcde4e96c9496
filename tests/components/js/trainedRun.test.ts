import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginTraining,
  isAtRisk,
} from "../../../explorer/components/browser_training/js/trainedRun.ts";

const STARTING = beginTraining({ task: "copy", causal: true, seed: 7 });
const MOMENT = {} as (typeof STARTING.moments)[number];
const DONE = { ...STARTING, state: "done" as const, moments: [MOMENT] };

test("a training is lost with the page while it goes on, or its model is nowhere else", () => {
  assert.ok(!isAtRisk(null, null));
  assert.ok(isAtRisk(STARTING, null));
  assert.ok(isAtRisk({ ...STARTING, state: "running" }, null));
  assert.ok(isAtRisk(DONE, null));
  assert.ok(isAtRisk({ ...DONE, state: "stopped" }, null));
  assert.ok(!isAtRisk({ ...STARTING, state: "stopped" }, null)); // it had no model
  assert.ok(!isAtRisk({ ...STARTING, state: "failed" }, null));
  assert.ok(!isAtRisk(DONE, DONE));
  assert.ok(isAtRisk(DONE, { ...STARTING, moments: [MOMENT] })); // saved before it went on
});
