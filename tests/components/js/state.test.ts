import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelTrace } from "../../../explorer/components/browser_model/js/explorableModel.ts";
import { createStore } from "../../../explorer/components/dom/js/store.ts";
import { synchronise } from "../../../explorer/components/head_views/js/comparison.ts";
import { initialStep } from "../../../explorer/components/live/js/initialView.ts";
import {
  bestHead,
  coverage,
  goldSite,
  goldWeight,
  isGold,
} from "../../../explorer/components/trace/js/headScores.ts";
import {
  initialState,
  type TraceState,
} from "../../../explorer/components/trace/js/initialState.ts";
import { isSpecial } from "../../../explorer/components/trace/js/label.ts";
import { FULL_WEIGHT, MEAN } from "../../../explorer/components/trace/js/look.ts";
import {
  currentRow,
  isGiven,
  predictionsOf,
  shownKeys,
  shownRows,
  stepOfRow,
} from "../../../explorer/components/trace/js/stepState.ts";
import {
  readTrace,
  type Site,
  type SiteName,
  type ViewOptions,
} from "../../../explorer/components/trace/js/trace.ts";
import { forcedRows, stepOfApp } from "../../../explorer/components/trace/js/unitChoice.ts";
import { nearestMoment } from "../../../explorer/components/training_replay/js/runData.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";
import { sharedExamples } from "./sharedExamples.ts";

function exampleTrace() {
  return readTrace(packPayload(HEADER, { "cross.attention": ["uint16", CODES] }));
}

test("without a view, the whole trace is shown at the last step", () => {
  const state = initialState(exampleTrace(), { step: null }, {});
  assert.deepEqual([state.site, state.step, state.ahead, state.hinted], ["cross", 2, true, false]);
});

test("a view wins over what was shown before, where the trace has it", () => {
  const trace = exampleTrace();
  const before: Partial<TraceState> = { site: "encoder", head: 1, scale: "row" };
  const view = {
    site: "cross",
    layer: 0,
    head: 0,
    step: 1,
    ahead: null,
  } as ViewOptions;
  const state = initialState(trace, view, before);
  assert.deepEqual([state.head, state.step, state.ahead, state.scale], [0, 1, false, "row"]);
  const beyond = initialState(trace, { ...view, head: 7, step: 9 }, before);
  assert.deepEqual([beyond.head, beyond.step], [1, 2]);
  assert.equal(initialState(trace, {}, { head: MEAN }).head, MEAN);
  const layerAlone = initialState(trace, { ...view, head: null }, before);
  assert.deepEqual([layerAlone.layer, layerAlone.head], [0, MEAN]);
});

test("rows and keys that are not decoded yet are not shown", () => {
  const trace = exampleTrace();
  const state = { ...initialState(trace, {}, {}), step: 1, ahead: false };
  assert.equal(currentRow({ trace, state }), 0);
  assert.equal(shownRows({ trace, state }), 1);
  assert.equal(shownKeys({ trace, state }), 3);
  assert.equal(shownRows({ trace, state: { ...state, ahead: true } }), 2);
});

/** The columns of the candidates of some steps: the first of each is the one that is taken. */
const TAKEN = {
  "steps.step": ["uint32", [2, 2, 4]],
  "steps.rank": ["uint32", [1, 2, 1]],
  "steps.label": ["uint32", [0, 1, 1]],
  "steps.id": ["uint32", [3, 7, 7]],
  "steps.probability": ["float32", [0.5, 0.25, 1]],
  "steps.chosen": ["uint8", [1, 0, 1]],
  "steps.forced": ["uint8", [1, 0, 1]],
} as Parameters<typeof packPayload>[1];

/** The arrays of one head whose weights are all 0, and of the steps. */
function arraysOf(site: string): Parameters<typeof packPayload>[1] {
  return { [`${site}.attention`]: ["uint16", new Array(16).fill(0)], ...TAKEN };
}

/** An encoder alone, whose second and fourth token are masks. */
function maskedTrace() {
  const source = ["a", "[MASK]", "b", "[MASK]"];
  const sites = { encoder: { shape: [1, 1, 4, 4], scale: 1, packed: false, removed: [] } };
  const content = { source: source.map(() => true), outputs: [] };
  const header = { ...HEADER, source, target: [], predicted: [], content, sites };
  return readTrace(packPayload(header, arraysOf("encoder")));
}

test("without a decoder, the mask tokens are gone through", () => {
  const trace = maskedTrace();
  assert.deepEqual([trace.steps, trace.masks], [2, [1, 3]]);
  assert.deepEqual(trace.fillings, ["", "3", "", "7"]);
  const context = { trace, pieces: trace, state: initialState(trace, { step: null }, {}) };
  assert.deepEqual([context.state.step, currentRow(context), shownRows(context)], [1, 1, 4]);
  assert.deepEqual(predictionsOf(context), trace.fillings);
  assert.deepEqual(
    [0, 1, 3].map((row) => stepOfRow(context, row)),
    [0, 1, 2],
  );
  assert.equal(stepOfApp(context, 2), 4);
  assert.deepEqual([...forcedRows(context)], [1, 3]);
  assert.equal(initialState(trace, { step: 4 }, {}).step, 2);
  assert.equal(initialState(trace, { step: 3 }, {}).step, 1);
});

test("the tokens of a prompt are given, not forced", () => {
  const target = ["a", "b", "c", "d"];
  const sites = { decoder: { shape: [1, 1, 4, 4], scale: 1, packed: false, removed: [] } };
  const header = { ...HEADER, source: [], target, predicted: target, sites, prompt: 3 };
  const trace = readTrace(packPayload(header, arraysOf("decoder")));
  const [given, decoded] = [trace.candidates[1][0], trace.candidates[3][0]];
  assert.deepEqual([given.given, given.forced], [true, false]);
  assert.deepEqual([decoded.given, decoded.forced], [false, true]);
  assert.deepEqual(
    [0, 1, 2, 3].map((row) => isGiven(trace, row)),
    [true, true, false, false],
  );
  assert.deepEqual([trace.masks, trace.fillings], [[], []]);
});

interface Opening {
  source: string[];
  predicted: string[];
  heads: number[][][]; // weights by row and key, of one layer at the gold site
  gold?: number[][];
  probabilities?: number[];
  why: "gold" | "coverage";
  scores: number[]; // of the heads
  head: number; // to open with
  steps: [SiteName, number, number | null, number | null][]; // of layer and head, the step
}

const OPENINGS: Opening[] = sharedExamples("opening");
const isContent = (token: string) => !isSpecial(token);

/** The trace of an example with one attention. */
function openingTrace({ source, predicted, heads, gold }: Opening) {
  const content = { source: source.map(isContent), outputs: predicted.map(isContent) };
  const shape = [1, heads.length, predicted.length, heads[0][0].length];
  const site = source.length ? "cross" : "decoder";
  const sites = { [site]: { shape, scale: 1, packed: false, removed: [] } };
  const target = source.length ? HEADER.target : predicted; // as long as the keys
  const header = { ...HEADER, source, target, predicted, content, sites };
  const codes = heads.flat(2).map((weight) => Math.round(weight * FULL_WEIGHT));
  const bits = gold?.flat().map((one, bit) => one << (bit & 7));
  const bytes =
    bits &&
    Array.from({ length: Math.ceil(bits.length / 8) }, (_, byte) =>
      bits.slice(8 * byte, 8 * byte + 8).reduce((before, bit) => before | bit, 0),
    );
  return readTrace(
    packPayload(header, {
      [`${site}.attention`]: ["uint16", codes],
      ...(bytes && { gold: ["uint8", bytes] }),
    }),
  );
}

test("a trace opens at the head that the app opens it with", () => {
  for (const { head, why, scores, ...example } of OPENINGS) {
    const trace = openingTrace({ head, why, scores, ...example });
    const site = trace.sites[goldSite(trace)] as Site;
    const measure = why === "gold" ? goldWeight : coverage;
    scores.forEach((score, at) => {
      assert.ok(Math.abs((measure(trace, site, 0, at) ?? 0) - score) < 1e-4);
    });
    assert.equal(bestHead(trace, site).head, head);
    example.gold?.forEach((row, query) => {
      assert.deepEqual(
        row.map((_, key) => Number(isGold(trace, site, query, key))),
        row,
      );
    });
  }
});

test("a page without a server opens at the step that the app opens at", () => {
  for (const { source, predicted, probabilities = [], heads, gold, steps } of OPENINGS) {
    const candidates = probabilities.map((probability, row) => ({
      ...{ step: row + 1, chosen: true, forced: false },
      probability,
    }));
    const keys = heads[0][0].length;
    const shape = [1, heads.length, predicted.length, keys];
    const weights = { values: Float32Array.from(heads.flat(2)), shape };
    const arrays = {
      [source.length ? "cross.attention" : "decoder.attention"]: weights,
      ...(gold && { gold: { values: Uint8Array.from(gold.flat()), shape: [gold.length, keys] } }),
    };
    const trace = {
      sourceTokens: source,
      predictedTokens: predicted,
      arrays,
      candidates,
    } as object;
    for (const [site, layer, head, step] of steps)
      assert.equal(initialStep(trace as ModelTrace, { site, layer, head }), step);
  }
});

/** A trace of as many steps, to be kept at the same step as another. */
function side(steps: number) {
  const trace = { ...exampleTrace(), steps };
  const { values: state, set } = createStore(initialState(trace, {}, {}));
  return { trace, state, set };
}

test("two traces keep the same step as far as the shorter one reaches", () => {
  const [short, long] = [side(2), side(5)];
  const [follow, followBack] = synchronise(short, long);
  short.set({ step: 1 });
  long.set({ step: 4 });
  followBack();
  assert.equal(short.state.step, 2);
  follow(); // the short one was moved: the long one stays
  assert.equal(long.state.step, 4);
  short.set({ step: 1 });
  follow();
  assert.equal(long.state.step, 1);
});

test("a trace that follows another does not take it back to where it was", () => {
  const [one, other] = [side(5), side(5)];
  const [follow, followBack] = synchronise(one, other);
  follow();
  followBack();
  one.set({ site: "encoder", step: 3, layer: 1 });
  follow();
  one.set({ site: "decoder", step: 4 }); // before the other is drawn
  followBack();
  assert.deepEqual([one.state.site, one.state.step], ["decoder", 4]);
  follow();
  assert.deepEqual([other.state.site, other.state.step, other.state.layer], ["decoder", 4, 0]);
});

test("of new traces the first leads", () => {
  const [one, other] = [side(5), side(5)];
  const [follow, followBack] = synchronise(one, other);
  follow();
  followBack();
  one.trace = { ...one.trace, steps: 3 };
  other.trace = { ...other.trace, steps: 6 };
  one.set({ step: 3 });
  other.set({ step: 6 });
  follow();
  followBack();
  assert.deepEqual([one.state.step, other.state.step], [3, 3]);
});

test("the moment nearest to a step", () => {
  const moments = [{ step: 10 }, { step: 20 }, { step: 40 }];
  assert.equal(nearestMoment(moments, 29), 1);
  assert.equal(nearestMoment(moments, 999), 2);
  assert.equal(nearestMoment([], 3), -1);
});
