import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { synchronise } from "../../../explorer/components/head_views/js/comparison.js";
import {
  bestHead,
  coverage,
  goldWeight,
  isGold,
} from "../../../explorer/components/shared/js/headScores.js";
import { openingState } from "../../../explorer/components/shared/js/openingState.js";
import {
  currentRow,
  shownKeys,
  shownRows,
} from "../../../explorer/components/shared/js/stepState.js";
import { anyOf, createStore } from "../../../explorer/components/shared/js/store.js";
import { MEAN, readTrace } from "../../../explorer/components/shared/js/trace.js";
import { nearestMoment } from "../../../explorer/components/training_replay/js/runData.js";
import { CODES, HEADER, packPayload } from "./payloads.mjs";

/** @import { TraceState } from "../../../explorer/components/shared/js/openingState.js" */
/** @import { Trace, ViewOptions } from "../../../explorer/components/shared/js/trace.js" */

/** @type {(() => void)[]} callbacks of the next animation frame */
let frames = [];

beforeEach(() => {
  frames = [];
  Object.assign(globalThis, {
    requestAnimationFrame: (/** @type {() => void} */ callback) => frames.push(callback),
    cancelAnimationFrame: () => {},
  });
});

/** @param {number[]} [gold] bits by row and key */
function exampleTrace(gold) {
  const arrays = /** @type {Parameters<typeof packPayload>[1]} */ ({
    "cross.attention": ["uint16", CODES],
  });
  if (gold) arrays.gold = ["uint8", gold];
  return readTrace(packPayload(HEADER, arrays));
}

test("changes within one frame are drawn once, with the names of what changed", () => {
  /** @type {string[][]} */
  const drawn = [];
  const store = createStore({ step: 1, head: 0 }, (changed) => drawn.push([...changed]));
  store.set({ step: 2 });
  store.set({ step: 3, head: 0 });
  store.touch("size");
  assert.equal(frames.length, 1);
  frames[0]();
  assert.deepEqual(drawn, [["step", "size"]]);
  assert.deepEqual(store.values, { step: 3, head: 0 });
  store.flush();
  assert.equal(drawn.length, 1);
  assert.ok(anyOf(new Set(["size"]), "step", "size"));
});

test("without a view, the whole trace is shown at the last step", () => {
  const state = openingState(exampleTrace(), { step: null }, {});
  assert.deepEqual([state.site, state.step, state.ahead, state.hinted], ["cross", 2, true, false]);
});

test("a view wins over what was shown before, where the trace has it", () => {
  const trace = exampleTrace();
  /** @type {Partial<TraceState>} */
  const before = { site: "encoder", head: 1, scale: "row" };
  const view = /** @type {ViewOptions} */ ({
    site: "cross",
    layer: 0,
    head: 0,
    step: 1,
    ahead: null,
  });
  const state = openingState(trace, view, before);
  assert.deepEqual([state.head, state.step, state.ahead, state.scale], [0, 1, false, "row"]);
  const beyond = openingState(trace, { ...view, head: 7, step: 9 }, before);
  assert.deepEqual([beyond.head, beyond.step], [1, 2]);
  assert.equal(openingState(trace, {}, { head: MEAN }).head, MEAN);
});

test("rows and keys that are not decoded yet are not shown", () => {
  const trace = exampleTrace();
  const state = { ...openingState(trace, {}, {}), step: 1, ahead: false };
  assert.equal(currentRow({ state }), 0);
  assert.equal(shownRows({ trace, state }), 1);
  assert.equal(shownKeys({ trace, state }), 3);
  assert.equal(shownRows({ trace, state: { ...state, ahead: true } }), 2);
});

test("gold weights, and the best head by them", () => {
  const trace = exampleTrace([0b010 | (0b001 << 3)]); // row 0 → key 1, row 1 → key 0
  const site = /** @type {NonNullable<Trace["sites"]["cross"]>} */ (trace.sites.cross);
  assert.ok(isGold(trace, 0, 1) && isGold(trace, 1, 0) && !isGold(trace, 1, 1));
  assert.equal(goldWeight(trace, site, 0, 0), 1);
  assert.ok(Math.abs((goldWeight(trace, site, 0, 1) ?? 0) - 1 / 6) < 1e-4);
  assert.deepEqual(bestHead(trace, site), { layer: 0, head: 0, score: 1 });
});

test("without a gold alignment, the best head covers the source", () => {
  const trace = exampleTrace();
  const site = /** @type {NonNullable<Trace["sites"]["cross"]>} */ (trace.sites.cross);
  assert.equal(coverage(trace, site, 0, 0), 1);
  assert.equal(bestHead(trace, site).head, 0);
});

test("two traces keep the same step as far as the shorter one reaches", () => {
  /** @param {number} steps */
  const side = (steps) => {
    const trace = { ...exampleTrace(), steps };
    const store = createStore(openingState(trace, {}, {}), () => {});
    return { trace, state: store.values, set: store.set };
  };
  const [short, long] = [side(2), side(5)];
  const [follow, followBack] = synchronise(short, long);
  const step = new Set(["step"]);
  short.set({ step: 1 });
  long.set({ step: 4 });
  followBack(step);
  assert.equal(short.state.step, 2);
  follow(step); // the short one was moved: the long one stays
  assert.equal(long.state.step, 4);
  short.set({ step: 1 });
  follow(step);
  assert.equal(long.state.step, 1);
});

test("the moment nearest to a step", () => {
  const moments = [{ step: 10 }, { step: 20 }, { step: 40 }];
  assert.equal(nearestMoment(moments, 29), 1);
  assert.equal(nearestMoment(moments, 999), 2);
  assert.equal(nearestMoment([], 3), -1);
});
