import assert from "node:assert/strict";
import { test } from "node:test";
import { csvCell } from "../../../explorer/components/dom/js/csv.ts";
import {
  percent,
  percentOfLoss,
  shortError,
  shortWeight,
  summands,
} from "../../../explorer/components/dom/js/numbers.ts";
import { fillIn, isolated } from "../../../explorer/components/dom/js/sentences.ts";
import { brokenLines } from "../../../explorer/components/figure/js/figureText.ts";
import { type onPage, setOnPage } from "../../../explorer/components/page/js/onPage.ts";
import { initialState } from "../../../explorer/components/trace/js/initialState.ts";
import {
  isSpecial,
  labelOf,
  markOf,
  nameSpecials,
  simpleName,
} from "../../../explorer/components/trace/js/label.ts";
import { joinedPieces } from "../../../explorer/components/trace/js/pieceText.ts";
import {
  decidingStep,
  inUnit,
  pieceStep,
  stepInUnit,
  stepPredicting,
} from "../../../explorer/components/trace/js/unitChoice.ts";
import { siteOfCodes, traceWith } from "./payloads.ts";

// Pieces: <bos> ▁ch at ▁no ir; words: <bos> chat noir.
const PIECES = traceWith({ steps: 5 });
const WORDS = traceWith({ steps: 3, rows: [0, 2, 4] });

test("a step of the pieces is in the word that contains its token", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((step) => stepInUnit(WORDS, step)),
    [0, 1, 2, 2, 3, 3],
  );
  assert.deepEqual(
    [0, 1, 5].map((step) => stepInUnit(PIECES, step)),
    [0, 1, 5],
  );
});

test("the step whose prediction contains what a step of the pieces predicts", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((step) => stepPredicting(WORDS, step)),
    [1, 1, 2, 2, 3],
  );
});

test("the candidates of a word are those of its last piece before", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => decidingStep(WORDS, step)),
    [0, 1, 3, 5],
  );
  assert.equal(decidingStep(PIECES, 4), 4);
});

test("going to words and back without a step leaves the step of the pieces", () => {
  const back: (step: number, before: number) => number = (step, before) =>
    pieceStep({
      trace: WORDS,
      state: { step, pieceStep: before } as Parameters<typeof pieceStep>[0]["state"],
    });
  assert.equal(back(2, 2), 2);
  assert.equal(back(3, 2), 5);
});

test("words are shown where they are wanted and exist", () => {
  const both = traceWith({ words: WORDS });
  assert.equal(inUnit(both, true), WORDS);
  assert.equal(inUnit(both, false), both);
  assert.equal(inUnit(PIECES, true), PIECES);
});

test("a view names the unit and, in either, a step of the pieces", () => {
  const site = siteOfCodes([[0]], 1, { name: "decoder" });
  const words = { ...WORDS, sites: { decoder: site } } as any;
  const both = traceWith({ ...PIECES, words, sites: { decoder: site } }) as any;
  const opened: (view: { words?: true | null }, before?: object) => (boolean | number)[] = (
    view,
    before = {},
  ) => {
    const state = initialState(both, { step: 4, layer: 0, head: 0, ...view }, before);
    return [state.words, state.step, state.pieceStep];
  };
  assert.deepEqual(opened({ words: true }), [true, 3, 4]);
  assert.deepEqual(opened({ words: null }, { words: true }), [false, 4, 4]); // as after Back
  assert.deepEqual(opened({}, { words: true }), [true, 3, 4]);
});

test("labels of tokens", () => {
  assert.deepEqual(["<bos>", "▁chat", "▁", "<0xE2>", " ", "a\u200bb", "👩‍👩‍👧"].map(labelOf), [
    "bos",
    "chat",
    "␣",
    "‹E2›",
    "␣",
    "a\\u200bb",
    "👩‍👩‍👧",
  ]);
  assert.equal(labelOf("x".repeat(50)), `${"x".repeat(40)}…`);
  assert.equal(markOf("▁chat"), "▁");
  assert.equal(markOf("▁"), "");
  assert.ok(isSpecial("</s>") && !isSpecial("s"));
});

const ENDS = ["<bos>", "<eos>", "<pad>", "</s>", "[SEP]", "<|endoftext|>", "end"];
const OTHERS = ["pad", "</s>", "SEP", "endoftext", "end"];

/** The labels while the page shows Simple. */
function simpleLabels() {
  setOnPage({ everything: false });
  const labels = ENDS.map(labelOf);
  setOnPage({ everything: true });
  return labels;
}

test("Simple calls bos and eos start and end, in the language of the page", () => {
  nameSpecials((key) => key); // of a file that has no names
  assert.deepEqual(simpleLabels(), ["bos", "eos", ...OTHERS]);
  nameSpecials((key) => ({ name_bos: "start", name_eos: "end" })[key] ?? key);
  assert.deepEqual(simpleLabels(), ["start", "end", ...OTHERS]);
  nameSpecials((key) => ({ name_bos: "开始", name_eos: "结束" })[key] ?? key);
  assert.deepEqual(simpleLabels(), ["开始", "结束", ...OTHERS]);
  assert.deepEqual(ENDS.map(labelOf), ["bos", "eos", ...OTHERS]);
  assert.equal(simpleName("term_eos"), undefined);
});

test("a lesson calls them so in Everything, too", () => {
  nameSpecials((key) => ({ name_bos: "start", name_eos: "end" })[key] ?? key);
  setOnPage({ lesson: {} as NonNullable<typeof onPage.lesson> });
  assert.deepEqual(["<bos>", "<eos>"].map(labelOf), ["start", "end"]);
  assert.equal(simpleName("term_eos"), "end");
  setOnPage({ lesson: null });
});

test("tokens in a table", () => {
  assert.equal(csvCell("=1+1"), "'=1+1");
  assert.equal(csvCell('a"b,c'), '"a""b,c"');
});

test("numbers have as many digits as are informative", () => {
  assert.deepEqual([0, 0.5, 0.9997, 0.99999, 1, 0.0005, 1e-8].map(percent), [
    "0.0\u00a0%",
    "50.0\u00a0%",
    "99.97\u00a0%",
    ">\u00a099.99\u00a0%",
    "100.0\u00a0%",
    "0.05\u00a0%",
    "<\u00a00.0001\u00a0%",
  ]);
  assert.deepEqual(
    [0.973, 0.999, 1.5].map((weight) => shortWeight(weight)),
    [".97", "1.0", "1.50"],
  );
  assert.deepEqual(
    [1, 0.996, 0.97, 0.94].map((weight) => shortWeight(weight, 1)),
    ["1", "1", ".9", ".9"],
  );
  assert.deepEqual([0, 3e-8, null].map(shortError), ["0", "3e-8", "?"]);
});

test("numbers add up as they are printed", () => {
  assert.deepEqual(summands([3.11, 2.12], 5.23), ["+3.11", "+2.12"]);
  assert.deepEqual(summands([3.114, 2.124], 5.238), ["+3.114", "+2.124"]); // 3.11 + 2.12 is 5.23
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647 - 0.5;
  };
  for (let count = 0; count < 500; count += 1) {
    const parts = Array.from({ length: 12 }, () => 8 * random());
    const sum = parts.reduce((before, part) => before + part, 0);
    const printed = summands(parts, sum).map((text) => Number(text.replace("−", "-")));
    const added = printed.reduce((before, part) => before + part, 0);
    assert.ok(Math.abs(added - Number(sum.toFixed(2))) < 0.005 + 1e-9, printed.join(" "));
    printed.forEach((part, index) => {
      assert.ok(Math.abs(part - parts[index]) <= 0.005 + 1e-9);
    });
  }
});

test("a loss follows from the percentage beside it", () => {
  assert.equal(percentOfLoss(0.5, "0.69"), "50.0\u00a0%");
  assert.equal(percentOfLoss(0.00147, "6.52"), "0.147\u00a0%"); // −ln 0.1 % is 6.91
  assert.equal(percentOfLoss(1e-9, "20.72"), percent(1e-9));
  assert.equal(percentOfLoss(0.99999, "0.00"), percent(0.99999));
  assert.equal(percentOfLoss(0, "∞"), percent(0));
});

test("sentences are filled in; an unknown key or fact stays visible", () => {
  assert.equal(fillIn({ a: "{x} of {y}" }, "a", { x: 1 }), "1 of {y}");
  assert.equal(fillIn({}, "missing"), "missing");
});

test("a word agrees with the number that it names", () => {
  const keys = { keys: "{count} unmasked {count:key|keys}" };
  assert.equal(fillIn(keys, "keys", { count: 1 }), "1 unmasked key");
  assert.equal(fillIn(keys, "keys", { count: "1" }), "1 unmasked key");
  assert.equal(fillIn(keys, "keys", { count: 0 }), "0 unmasked keys");
  assert.equal(fillIn(keys, "keys", { count: 21 }), "21 unmasked keys");
  assert.equal(fillIn(keys, "keys"), "{count} unmasked {count:key|keys}");
});

test("bytes of a text are joined", () => {
  assert.equal(joinedPieces(["▁caf", "<0xC3>", "<0xA9>", "▁noir"]), "café noir");
});

test("text that is written from right to left is set apart in a sentence", () => {
  const strings = { seen: "{query}: {weight}", whole: "{seen}; {next}" };
  const seen = fillIn(strings, "seen", { query: "על", weight: 0.5 });
  assert.equal(seen, "\u2068על\u2069: 0.5");
  assert.equal(
    fillIn(strings, "whole", { seen, next: "مرحبا" }),
    "\u2068על\u2069: 0.5; \u2068مرحبا\u2069", // not once more
  );
  for (const plain of ["naïve", "猫", "🙂", "10.8", "→"]) assert.equal(isolated(plain), plain);
  for (const letter of ["א", "ع", "٣", "ﷺ", "𐤀", "𞤀"])
    assert.equal(isolated(letter), `\u2068${letter}\u2069`);
});

test("a line that ends inside of what is set apart ends and begins it again", () => {
  const pen = {
    measureText: (text: string) => ({ width: text.length }),
  } as any;
  assert.deepEqual(brokenLines(pen, "to \u2068אב גד\u2069: 3", 6), [
    "to \u2068אב\u2069",
    "\u2068גד\u2069: 3",
  ]);
});
