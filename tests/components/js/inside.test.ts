import assert from "node:assert/strict";
import { test } from "node:test";
import { cellArithmetic } from "../../../explorer/components/inside/js/arithmetic.ts";
import { cellTexts, keysText } from "../../../explorer/components/inside/js/cellTexts.ts";
import {
  differenceOf,
  hideLater,
  outputsText,
} from "../../../explorer/components/inside/js/omission.ts";
import { decimal, subscript } from "../../../explorer/components/inside/js/printedNumbers.ts";
import { initialState } from "../../../explorer/components/trace/js/initialState.ts";
import { shownCell } from "../../../explorer/components/trace/js/stepState.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const TRACE = readTrace(packPayload(HEADER, { "cross.attention": ["uint16", CODES] }));

/** One query (1, 2) and three keys, whose products are 4, 2 and 11; values of width 1. */
const HEAD = {
  width: 2,
  scale: 0.5,
  cap: null,
  queries: new Float32Array([1, 2]),
  keys: new Float32Array([2, 1, 0, 1, 1, 5]),
  values: new Float32Array([10, 20, 40]),
  bias: null,
  sink: null,
};

function near(got: number, expected: number) {
  assert.ok(Math.abs(got - expected) < 1e-12, `${got} instead of ${expected}`);
}

test("a cell is the softmax of scaled products over the unmasked keys", () => {
  const found = cellArithmetic(HEAD, [0, 0, 2], 0, 0);
  assert.deepEqual(found.products, [2, 2]);
  assert.deepEqual([found.product, found.scaled, found.unmasked], [4, 2, 2]);
  const weight = Math.exp(2) / (Math.exp(2) + Math.exp(1));
  near(found.weights[0], weight);
  assert.equal(found.weights[2], 0);
  near(found.output[0], weight * 10 + (1 - weight) * 20);
});

test("the parts of all keys have one scale, and a part is the product of printed numbers", () => {
  const context = (open: object[]) =>
    ({
      say: (key: string, facts: Record<string, unknown>) =>
        key === "inside_value_number"
          ? `${facts.share} × ${facts.length} ${facts.is_part} ${facts.part}`
          : key,
      trace: { header: { reasons: ["open", "later position", "padding"] } },
      state: { site: "cross", layer: 0, head: 0, shows: "weight" },
      asked: { open },
    }) as any;
  const head = { ...HEAD, values: new Float32Array([3, -4, 0.6, 0.8, 9, 9]) }; // 5, 1 and masked
  const mask = Uint8Array.of(0, 0, 2);
  const [one, other] = [0, 1].map((key) => cellArithmetic(head, mask, 0, key));
  near(one.length, 5);
  assert.deepEqual(one.span, other.span);
  near(one.span[0], -4 * one.weights[0]);
  near(one.span[1], 3 * one.weights[0]);
  const text = (open: object[]) =>
    cellTexts(context(open), head, one, mask, { query: 0, key: 0 }).numbers.value;
  assert.equal(text([]), "0.7311 × 5.0000 = 3.66"); // .73 × 5.00 is 3.65, and 3.655 is a tie
  const asked = { answer: "part", site: "cross", layer: 0, head: 0, query: 0, key: 0 };
  assert.equal(text([asked]), "0.7311 × 5.0000 = ?");
});

test("a masked cell has a score and no weight", () => {
  const found = cellArithmetic(HEAD, [0, 0, 2], 0, 2);
  assert.deepEqual([found.masked, found.scores[2], found.weights[2]], [true, 5.5, 0]);
});

test("a cap, a bias and a sink are part of the calculation", () => {
  const bias = new Float32Array([0.25, 0, 0]);
  const more = { ...HEAD, cap: 3, bias, sink: new Float32Array([0.5]) };
  const found = cellArithmetic(more, [0, 0, 0], 0, 0);
  near(found.scaled, Math.tanh(2 / 3) * 3);
  near(found.scores[0], Math.tanh(2 / 3) * 3 + 0.25);
  near(
    found.weights.reduce((sum, weight) => sum + weight, 0),
    0.5,
  );
});

test("the largest score is taken from each, whatever their size", () => {
  for (const scale of [0.5, 200, -400]) {
    const found = cellArithmetic({ ...HEAD, scale }, [0, 0, 2], 0, 0);
    assert.equal(found.largest, Math.max(4 * scale, 2 * scale));
    near(found.sum, 1 + Math.exp(-Math.abs(2 * scale)));
    near(found.weights[0] + found.weights[1], 1);
  }
});

test("a sink is named with its weight", () => {
  const say: (key: string, facts?: Record<string, unknown>) => string = (key, facts) =>
    `${key} ${Object.values(facts ?? {}).join(" ")}`;
  assert.equal(keysText(say, null, 1, 4), "inside_keys 4");
  assert.equal(keysText(say, new Float32Array([0, 0.25]), 1, 4), "inside_keys_and_sink 4 .25");
});

test("a query that may attend to nothing has no weights and no fraction", () => {
  const found = cellArithmetic(HEAD, [2, 2, 2], 0, 0);
  assert.deepEqual(found.weights, [0, 0, 0]);
  const context = {
    say: (key: string) => key,
    trace: { header: { reasons: ["open", "later position", "padding"] } },
    asked: { open: [] },
  } as any;
  const masked = Uint8Array.of(2, 2, 2);
  const { numbers } = cellTexts(context, HEAD, found, masked, { query: 0, key: 0 });
  assert.equal(numbers.softmax, "inside_softmax_number_none");
});

test("a root that is rounded is not said to be equal, and gives the score that is printed", () => {
  const context = {
    say: (key: string, facts: Record<string, unknown>) =>
      key === "inside_scaled_note" ? `${facts.is_root} ${facts.root}` : key,
    trace: { header: { reasons: ["open", "later position", "padding"] } },
    asked: { open: [] },
  } as any;
  const found = cellArithmetic(HEAD, [0, 0, 0], 0, 0);
  const root = (width: number) => {
    const head = { ...HEAD, width, scale: 1 / Math.sqrt(width) };
    return cellTexts(context, head, found, new Uint8Array(3), { query: 0, key: 0 }).notes.scaled;
  };
  assert.deepEqual([16, 24, 32, 64].map(root), ["= 4", "≈ 4.899", "≈ 5.657", "= 8"]);
  assert.equal((24.64 / 5.657).toFixed(3), "4.356"); // with 5.66, as before, 4.353
});

test("numbers have the digits that say something", () => {
  assert.deepEqual([4.2101, -0.7449, 0.0123, -0.00021, 0, -1e-9, 170.8].map(decimal), [
    "4.21",
    "−0.74",
    "0.012",
    "−0.00021",
    "0.00",
    "0.00",
    "170.80",
  ]);
  assert.equal(subscript(120), "₁₂₀");
});

test("the shown cell follows the current row and stays on the map", () => {
  const state = initialState(TRACE, { step: 2, cell: [0, 9] }, {});
  assert.deepEqual(state.inside, { query: 0, key: 9 });
  assert.deepEqual(shownCell({ trace: TRACE, state }), { query: 1, key: 2 });
  assert.equal(initialState(TRACE, { step: 2 }, {}).inside, null);
  assert.deepEqual(initialState(TRACE, { step: 1 }, state).inside, { query: 0, key: 9 });
});

test("the output without the mask is not named ahead of its step, and says why it is the same", () => {
  const say = (name: string) => name;
  const state = initialState(TRACE, { step: 1 }, {});
  const text = (part: string, other: string, changes?: Partial<typeof state>) =>
    outputsText({ trace: TRACE, pieces: TRACE, say, state: { ...state, ...changes } }, part, other);
  const own = TRACE.header.text ?? "";
  assert.equal(text("mask", own), "without_ahead");
  for (const shown of [{ ahead: true }, { step: TRACE.steps }]) {
    assert.equal(text("mask", own, shown), "without_same without_mask_same");
    assert.equal(text("scaling", own, shown), "without_same");
    assert.equal(text("mask", `${own} x`, shown), "without_outputs");
  }
});

test("a difference is that of the numbers in the tables beside it", () => {
  const tokens = { queries: ["bos"], keys: ["7", "3"] };
  const table = (weights: number[]) => ({ ...tokens, row: () => ({ weights, masked: [0, 0] }) });
  const { weights } = differenceOf(table([0.205, 0.795]), table([0.524, 0.476])).row(0);
  near(weights[0], 0.52 - 0.2); // binary, 0.205 is less than that
  near(weights[1], 0.48 - 0.8);
});

test("keys that are not yet decoded have no name in a table", () => {
  const keys = ["bos", "4", "1"];
  const row = () => ({ weights: [0, 0, 1], masked: [0, 0, 0] });
  const weights = { queries: ["bos"], keys, row };
  assert.deepEqual(hideLater(weights, 2).keys, ["bos", "4", "·"]);
  assert.deepEqual(hideLater(weights, Number.POSITIVE_INFINITY).keys, keys);
});
