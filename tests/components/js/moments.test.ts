import assert from "node:assert/strict";
import { test } from "node:test";
import { MARGIN, TYPE, WIDTHS } from "../../../explorer/components/figure/js/figureText.ts";
import { placePanels } from "../../../explorer/components/figure/js/panelLayout.ts";
import { spread } from "../../../explorer/components/training_replay/js/momentsFigure.ts";

/** Wider than any system font: a CJK character is as wide as the type is high. */
const measure = (text: string) =>
  Array.from(text).reduce((sum, letter) => sum + (letter > "\u2e80" ? TYPE : 0.58 * TYPE), 0);

function boxOf({
  x,
  y,
  text,
  "text-anchor": anchor,
}: import("../../../explorer/components/figure/js/panelLayout.ts").PlacedText) {
  const width = measure(text);
  const left = anchor === "middle" ? x - width / 2 : x;
  return { left, right: left + width, top: y - 0.8 * TYPE, bottom: y + 0.2 * TYPE, text };
}

const facts = { en: ["step", "exact match"], zh: ["步", "完全匹配率"] };
const cases = [
  { name: "one head at one moment", heads: 1, moments: 1, queries: 5, keys: 5 },
  { name: "eight heads at eight moments", heads: 8, moments: 8, queries: 7, keys: 6 },
  { name: "24 heads, 38 words to 12", heads: 24, moments: 8, queries: 12, keys: 60 },
  { name: "a long answer to one word", heads: 4, moments: 8, queries: 60, keys: 2 },
  {
    name: "translation without gold weights",
    heads: 4,
    moments: 5,
    queries: 9,
    keys: 9,
    bare: true,
  },
  { name: "a million steps", heads: 2, moments: 8, queries: 4, keys: 4, step: 125_000 },
];

for (const { name, heads, moments, queries, keys, bare = false, step = 1250 } of cases) {
  for (const language of ["en", "zh"] as const) {
    test(`${name}: no text or panel lies over another (${language})`, () => {
      const { texts, panels, across, down, end } = placePanels({
        measure,
        sheet: WIDTHS.both,
        top: 100,
        facts: facts[language],
        columns: Array.from({ length: moments }, (_, at) => [String((at + 1) * step), "100.0 %"]),
        rows: Array.from({ length: heads }, (_, head) => `L${head >> 2} H${head % 4}`),
        below: bare ? [] : Array.from({ length: heads }, () => Array(moments).fill("1.00")),
        shape: { queries, keys },
      });
      assert.equal(panels.length, heads * moments);
      assert.equal(texts.length, 2 + 2 * moments + heads + (bare ? 0 : heads * moments));
      const boxes = [
        ...texts.map(boxOf),
        ...panels.map(({ left, top, row, column }) => ({
          left,
          top,
          right: left + across * keys,
          bottom: top + down * queries,
          text: `panel ${row}, ${column}`,
        })),
      ];
      for (const box of boxes) {
        assert.ok(box.left >= MARGIN - 0.01 && box.right <= WIDTHS.both - MARGIN + 0.01, box.text);
        assert.ok(box.top >= 100 && box.bottom <= end, box.text);
      }
      boxes.forEach((one, index) => {
        for (const other of boxes.slice(index + 1)) {
          const apart =
            one.right <= other.left ||
            other.right <= one.left ||
            one.bottom <= other.top ||
            other.bottom <= one.top;
          assert.ok(apart, `${one.text} over ${other.text}`);
        }
      });
    });
  }
}

test("moments are spread evenly, the first and the last among them", () => {
  const all = Array.from({ length: 40 }, (_, index) => index);
  assert.deepEqual(spread(all, 8), [0, 6, 11, 17, 22, 28, 33, 39]);
  assert.deepEqual(spread([3, 5], 8), [3, 5]);
  assert.deepEqual(spread([3], 8), [3]);
  assert.deepEqual(spread([], 8), []);
});
