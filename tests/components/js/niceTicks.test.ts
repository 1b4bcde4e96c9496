import assert from "node:assert/strict";
import { test } from "node:test";
import { niceTicks } from "../../../explorer/components/training_replay/js/niceTicks.ts";

test("ticks are round numbers in the range, not more than fit", () => {
  assert.deepEqual(niceTicks([0, 1000], 5), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(niceTicks([0, 0.0021], 4), [0, 0.001, 0.002]);
  assert.deepEqual(niceTicks([13, 27], 3), [15, 20, 25]);
  assert.deepEqual(niceTicks([0, 7], 2), [0, 5]);
  assert.deepEqual(niceTicks([-1, 1], 2), [-1, 0, 1]);
});

test("a range without extent has one tick", () => {
  assert.deepEqual(niceTicks([5, 5], 4), [5]);
});
