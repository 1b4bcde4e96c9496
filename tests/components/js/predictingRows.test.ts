import assert from "node:assert/strict";
import { test } from "node:test";
import { predictingSite } from "../../../explorer/components/trace/js/predictingRows.ts";
import { siteOfCodes } from "./payloads.ts";

// Pieces fed in: <bos> ▁ch at ▁no; words: <bos> chat no. Keys: ▁ca t . ; words: cat .
const ROWS = [0, 2, 3];
const COLUMNS = [1, 2];
const PIECES = [
  [10, 20, 5],
  [30, 40, 7],
  [100, 0, 8],
  [1, 2, 3],
];

function site(more: Partial<import("../../../explorer/components/trace/js/trace.ts").Site>) {
  const words = siteOfCodes([new Array(6).fill(0)], 2);
  return predictingSite(words, siteOfCodes([PIECES.flat()], 3, more), ROWS, COLUMNS);
}

test("a row is the mean of the rows of pieces that predict the next word", () => {
  // "chat" is predicted in rows 0 and 1, "no" in row 2, and row 3 predicts what is not fed in.
  assert.deepEqual([...site({}).weights(0, 0)], [50, 6, 100, 8, 3, 3]);
  assert.deepEqual([...site({}).picture(0, 0).weights], [50, 6, 100, 8, 3, 3]);
});

test("codes are those of the scale of the words", () => {
  assert.deepEqual([...site({ scale: 2 }).weights(0, 0)], [100, 12, 200, 16, 6, 6]);
});

test("a cell is masked where all cells of its pieces are, padding before other reasons", () => {
  const masked = Uint8Array.from([3, 2, 0, 1, 3, 4, 3, 3, 0, 1, 0, 4]);
  assert.deepEqual([...site({ masked: () => masked }).masked(0, 0)], [2, 0, 3, 0, 0, 4]);
});

test("what leaving a key out costs is merged as weights are", () => {
  const drop = (query: number, key: number) => PIECES[query][key] / 100;
  assert.equal(site({ drop }).drop(0, 0), 0.5);
  assert.equal(site({ drop }).drop(1, 1), 0.08);
});

test("the picture of a large trace, which is smaller, stays", () => {
  const picture = { queries: 1, keys: 1, weights: Uint16Array.of(9), masked: Uint8Array.of(0) };
  const words = siteOfCodes([new Array(6).fill(0)], 2, { picture: () => picture });
  const found = predictingSite(words, siteOfCodes([PIECES.flat()], 3), ROWS, COLUMNS);
  assert.equal(found.picture(0, 0), picture);
});
