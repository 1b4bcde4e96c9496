import assert from "node:assert/strict";
import { test } from "node:test";
import { MARGIN, TYPE, WIDTHS } from "../../../explorer/components/figure/js/figureText.ts";
import { type KeyRow, placeKeys } from "../../../explorer/components/inside/js/keyList.ts";
import {
  type PlacedBar,
  type PlacedText,
  placeSteps,
} from "../../../explorer/components/inside/js/stepBlocks.ts";

const measure = (text: string) =>
  Array.from(text).reduce((sum, letter) => sum + (letter > "\u2e80" ? TYPE : 7), 0);
const pen = {
  measureText: (text: string) => ({ width: measure(text) }),
} as any;
const pens = { plain: pen, bold: pen };
const HEADINGS = { token: "key", score: "score", weight: "weight" };
const TOKENS = ["▁The", "▁extraordinarilylongtokenwithoutaspace", "这只", "<eos>"];
const REASONS = ["", "", "outside the window"];

/** A row of keys, of which some are masked; the larger the number, the larger the weight. */
function rowsOf(count: number, chosen: number): KeyRow[] {
  const sum = (count * (count + 1)) / 2;
  return Array.from({ length: count }, (_, key) => {
    const reason = REASONS[key % REASONS.length];
    const weight = reason ? 0 : (key + 1) / sum;
    const number = weight.toFixed(2).slice(1);
    const token = TOKENS[key % TOKENS.length];
    return { key, token, score: "−12345.67", weight, number, reason, chosen: key === chosen };
  });
}

/** Check that texts and bars lie on the sheet, and that no text covers another or a bar. */
function checkPlaces(
  { texts, bars, end }: { texts: PlacedText[]; bars: PlacedBar[]; end: number },
  sheet: number,
  top: number,
) {
  const boxes = texts.map(({ x, y, text, "text-anchor": anchor }) => {
    const left = anchor === "end" ? x - measure(text) : x;
    return { text, left, right: left + measure(text), top: y - TYPE * 0.75, bottom: y };
  });
  const tracks = bars
    .filter(({ part }) => part !== "zero")
    .map(({ x, y, width, height }) => ({
      text: "bar",
      left: x,
      right: x + width,
      top: y,
      bottom: y + height,
    }));
  for (const box of [...boxes, ...tracks]) {
    assert.ok(box.left >= MARGIN - 0.01 && box.right <= sheet - MARGIN + 0.01, box.text);
    assert.ok(box.top >= top && box.bottom <= end + 0.01, box.text);
  }
  boxes.forEach((one, at) => {
    for (const other of [...boxes.slice(at + 1), ...tracks]) {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      assert.ok(across < 0.01 || down < 0.01, `${one.text} and ${other.text}`);
    }
  });
}

for (const sheet of Object.values(WIDTHS)) {
  for (const count of [1, 6, 15, 64, 300]) {
    test(`${count} keys have room on a sheet of ${sheet} px, the chosen one always`, () => {
      const rows = rowsOf(count, Math.min(2, count - 1)); // masked, where there are three
      const list = placeKeys({ rows, headings: HEADINGS, pens, sheet, top: 40 });
      checkPlaces(list, sheet, 40);
      const listed = list.texts.filter(({ part }) => part === "key").map(({ text }) => text);
      assert.equal(listed.length + list.left.length, count);
      assert.deepEqual(
        listed.map(Number),
        listed.map(Number).sort((one, other) => one - other),
      );
      assert.ok(listed.includes(String(Math.min(3, count))));
      assert.ok(!list.left.some(({ chosen }) => chosen));
      const least = Math.min(
        ...rows
          .filter(({ key, chosen }) => !chosen && listed.includes(String(key + 1)))
          .map(({ weight }) => weight),
      );
      assert.ok(list.left.every(({ weight }) => weight <= least));
    });
  }
}

test("a bar is as long as its weight, and a masked key has its reason in place of one", () => {
  const rows = rowsOf(3, 0);
  const { bars, texts } = placeKeys({ rows, headings: HEADINGS, pens, sheet: 640, top: 0 });
  const [tracks, lengths] = [true, false].map((whole) =>
    bars.filter(({ part }) => (part === "track") === whole).map(({ width }) => width),
  );
  assert.deepEqual(
    lengths.map((length, index) => (length / tracks[index]).toFixed(6)),
    rows.filter(({ reason }) => !reason).map(({ weight }) => weight.toFixed(6)),
  );
  const reasons = texts.filter(({ part }) => part === "reason");
  assert.deepEqual(
    reasons.map(({ text }) => text),
    ["outside the window"],
  );
  assert.deepEqual(
    bars.filter(({ part }) => part === "chosen").map(({ y }) => y),
    [bars[0].y],
  );
});

test("steps stand beside each other where there is room, each with its bars or its note", () => {
  const steps = [
    { heading: "query · key", values: [1, -2, 3], number: "3 products, sum 2.00" },
    { heading: "scale", number: "2.00 ÷ √3 = 1.15" },
    { heading: "mask", note: "The mask sets 2 of the 6 scores to −∞.", number: "stays 1.15" },
    { heading: "对整行做 softmax", values: [0.25, 0.75], chosen: 1, number: "e^1.15 ÷ Σ = .75" },
    { heading: "weight × value", values: [0, 0], number: ".75 × v₂, 2 numbers" },
    { heading: "output", values: Array(300).fill(-1), number: "sum over 4 keys, 300 numbers" },
  ];
  for (const [sheet, across] of [
    [WIDTHS.both, 3],
    [WIDTHS.one, 2],
  ]) {
    const blocks = placeSteps({ steps, pens, sheet, top: 10 });
    checkPlaces(blocks, sheet, 10);
    const headings = blocks.texts.filter(({ part }) => part === "heading");
    assert.equal(new Set(headings.map(({ x }) => x)).size, across);
    const chosen = blocks.bars.filter(({ part }) => part === "chosen");
    assert.equal(chosen.length, 1);
  }
});
