import assert from "node:assert/strict";
import { test } from "node:test";
import { latestOnly } from "../../../explorer/components/dom/js/latestOnly.ts";

/** A task whose runs end when they are told to. */
function slowTask() {
  const begun: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const run = () => new Promise<void>((resolve, reject) => begun.push({ resolve, reject }));
  const ask = latestOnly(run);
  return { ask, begun };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("what is asked for during a run is done once, after it", async () => {
  const { ask, begun } = slowTask();
  ask();
  ask();
  ask();
  assert.equal(begun.length, 1);
  begun[0].resolve();
  await settle();
  assert.equal(begun.length, 2);
  begun[1].resolve();
  await settle();
  assert.equal(begun.length, 2);
});

test("after a run that fails, the next one begins", async () => {
  const { ask, begun } = slowTask();
  const first = ask();
  begun[0].reject(new Error("offline"));
  await assert.rejects(first, /offline/);
  ask();
  assert.equal(begun.length, 2);
});
