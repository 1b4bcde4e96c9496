import assert from "node:assert/strict";
import { test } from "node:test";
import { createScreen } from "../../../explorer/components/dom/js/store.ts";
import {
  createHeadPairs,
  type SelectedHead,
} from "../../../explorer/components/head_views/js/headPairs.ts";
import { rangeOf } from "../../../explorer/components/head_views/js/similarityMatrix.ts";
import { MEAN } from "../../../explorer/components/trace/js/look.ts";

/** Pairs of a model of 2 × 3 heads with one of 1 × 2; only L0 H1 has a match. */
function examplePairs(layer: number, head: number, initial: "matched" | "same" = "matched") {
  const sites = { cross: { layers: 1, heads: 2 } };
  const own = {
    trace: { sites: {} },
    state: { site: "cross", layer, head },
  } as SelectedHead;
  const second = {
    trace: { sites },
    state: { site: "cross", layer: 0, head: 0 },
  } as unknown as SelectedHead;
  return {
    own,
    pairs: createHeadPairs(() => ({ cross: { matched: [[0, 1, 0, 0]] } }), own, second, initial),
  };
}

test("a head has its match beside it, or the head at the same place", () => {
  const { own, pairs } = examplePairs(0, 1);
  assert.deepEqual(pairs.other(), { layer: 0, head: 0 });
  pairs.follow("same");
  assert.deepEqual(pairs.other(), { layer: 0, head: 1 });
  Object.assign(own.state, { layer: 1, head: 2 });
  assert.deepEqual(pairs.other(), { layer: 0, head: 1 }); // the second model is smaller
});

test("of two texts the same head stands beside a head at first", () => {
  const { pairs } = examplePairs(0, 1, "same");
  assert.equal(pairs.rule(), "same");
  assert.deepEqual(pairs.other(), { layer: 0, head: 1 });
  pairs.follow("matched");
  assert.deepEqual(pairs.other(), { layer: 0, head: 0 });
});

test("a head without a match has the one at its place, a mean that of the layer", () => {
  assert.deepEqual(examplePairs(1, 0).pairs.other(), { layer: 0, head: 0 });
  assert.deepEqual(examplePairs(1, MEAN).pairs.other(), { layer: 0, head: MEAN });
});

test("a chosen head stays beside the one it was chosen for", () => {
  const { own, pairs } = examplePairs(0, 1);
  pairs.choose({ layer: 0, head: 1 });
  assert.deepEqual(pairs.other(), { layer: 0, head: 1 });
  own.state.head = 0;
  assert.equal(pairs.chosen(), null);
  own.state.head = 1;
  assert.deepEqual(pairs.chosen(), { layer: 0, head: 1 });
  pairs.follow("matched");
  assert.deepEqual(pairs.other(), { layer: 0, head: 0 });
});

test("a view of the pair draws again when a head or a rule is chosen", () => {
  Object.assign(globalThis, { requestAnimationFrame: () => 1, cancelAnimationFrame: () => {} });
  const { pairs } = examplePairs(0, 1);
  const drawn: [number, string][] = [];
  const screen = createScreen();
  screen.show({ views: [() => drawn.push([pairs.other().head, pairs.rule()])] });
  screen.flush();
  pairs.choose({ layer: 0, head: 1 });
  screen.flush();
  pairs.follow("matched");
  screen.flush();
  pairs.follow("same");
  screen.flush();
  assert.deepEqual(drawn, [
    [0, "matched"],
    [1, "matched"],
    [0, "matched"],
    [1, "same"],
  ]);
});

test("a head that the second model has not is not shown", () => {
  const { pairs } = examplePairs(0, 1);
  pairs.choose({ layer: 5, head: 0 });
  assert.equal(pairs.chosen(), null);
  assert.deepEqual(pairs.other(), { layer: 0, head: 0 });
});

test("similarities are coloured between the tenths around them", () => {
  assert.deepEqual(rangeOf(Float32Array.of(0.31, 0.79)), { least: 0.3, most: 0.8 });
  assert.deepEqual(rangeOf(Float32Array.of(0.4, 0.9)), { least: 0.4, most: 0.9 });
  assert.deepEqual(rangeOf(Float32Array.of(1, 1)), { least: 0, most: 1 });
  assert.deepEqual(rangeOf(Float32Array.of(Number.NaN)), { least: 0, most: 1 });
});
