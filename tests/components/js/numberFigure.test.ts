import assert from "node:assert/strict";
import { test } from "node:test";
import { MARGIN, WIDTHS } from "../../../explorer/components/figure/js/figureText.ts";
import { layoutOf } from "../../../explorer/components/head_views/js/numberFigure.ts";

const HEADS = [0, 1, 2].flatMap((layer) =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((column) => ({ layer, column })),
);

test("the heads of a layer stay in one line where their numbers have room", () => {
  const { lines, placeOf, endBelow } = layoutOf(HEADS, 44, WIDTHS.both);
  assert.equal(lines, 1);
  const [first, below] = [0, 1].map((layer) => placeOf({ layer, column: 0 }, 0).y);
  assert.equal(below - first, 24);
  assert.equal(endBelow(0), placeOf({ layer: 2, column: 7 }, 0).y + 24);
});

test("where they have not, each line has room for the names of its heads", () => {
  const { lines, placeOf, endBelow } = layoutOf(HEADS, 44, WIDTHS.one);
  assert.equal(lines, 2);
  const places = HEADS.map((head) => placeOf(head, 0));
  const tops = [...new Set(places.map(({ y }) => y))];
  assert.equal(tops.length, 6);
  for (const [row, top] of tops.slice(1).entries()) assert.ok(top - (tops[row] ?? 0) >= 24 + 18);
  for (const { x, width } of places) {
    assert.ok(width >= 44);
    assert.ok(x + width <= WIDTHS.one - MARGIN + 0.01);
  }
  assert.equal(endBelow(0), Math.max(...tops) + 24);
});
