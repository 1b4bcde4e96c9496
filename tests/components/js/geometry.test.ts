import assert from "node:assert/strict";
import { test } from "node:test";
import { cornersOf } from "../../../explorer/components/map/js/alignment.ts";
import {
  cellAt,
  cellShape,
  cellSize,
  labelled,
  wholeRange,
  xOf,
  yOf,
} from "../../../explorer/components/map/js/geometry.ts";

const SITE = { queries: 4, keys: 8 };
const PLOT = { left: 10, top: 20, width: 80, height: 40, ...wholeRange(SITE) };

test("cells fill the plot", () => {
  assert.deepEqual(cellSize(PLOT), { width: 10, height: 10 });
  assert.equal(xOf(PLOT, 0), 0);
  assert.equal(xOf(PLOT, 8), 80);
  assert.equal(yOf(PLOT, 3), 30);
});

test("the cell under a point, also when zoomed; null beside the plot", () => {
  assert.deepEqual(cellAt(PLOT, 10, 20), { query: 0, key: 0 });
  assert.deepEqual(cellAt(PLOT, 89.9, 59.9), { query: 3, key: 7 });
  assert.equal(cellAt(PLOT, 9, 30), null);
  assert.equal(cellAt(PLOT, 90, 30), null);
  const zoomed = { ...PLOT, x: [3.5, 5.5] as [number, number] };
  assert.deepEqual(cellAt(zoomed, 10 + 41, 20), { query: 0, key: 5 });
});

test("cells are square, except where they would make a narrow band", () => {
  assert.deepEqual(cellShape(SITE, { width: 400, height: 400 }, 76, 1), { width: 50, height: 50 });
  assert.deepEqual(cellShape(SITE, { width: 4000, height: 4000 }, 76, 1), {
    width: 76,
    height: 76,
  });
  const band = cellShape({ queries: 1, keys: 100 }, { width: 500, height: 400 }, 76, 1);
  assert.deepEqual(band, { width: 5, height: 26 });
});

test("every n-th position that has space is labelled, and always the wanted ones", () => {
  assert.deepEqual([...labelled(4, [-0.5, 3.5], 20, 15, [])], [0, 1, 2, 3]);
  assert.deepEqual([...labelled(8, [-0.5, 7.5], 10, 20, [])], [0, 2, 4, 6]);
  const wanted = labelled(8, [-0.5, 7.5], 10, 20, [3]);
  assert.ok(wanted.has(3));
  assert.ok(!wanted.has(2) && !wanted.has(4)); // the neighbours give way
  assert.deepEqual([...labelled(8, [3.5, 6.5], 10, 5, [1])], [4, 5, 6]);
});

test("the corners of a link stay inside its cell", () => {
  const lines = cornersOf({ width: 10, height: 20 }, 1, false);
  assert.equal(lines.length, 4);
  for (const [x, y] of lines.flat()) {
    assert.ok(x >= 1 && x <= 9 && y >= 1 && y <= 19);
  }
});
