import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut, sentenceOf } from "../../../explorer/components/head_views/js/patchedTables.ts";
import type { PatchedTable } from "../../../explorer/components/head_views/js/viewPayload.ts";

const say = (key: string, facts: object = {}) => [key, ...Object.values(facts)].join(" ");

/** A trace that has the layers 0 and 2 of the model. */
const trace = { sites: { decoder: { numbers: [0, 2] } } } as unknown as Parameters<
  typeof layOut
>[2]["trace"];

function laidOut(tokens: PatchedTable["tokens"], cells: PatchedTable["cells"]) {
  return layOut({ site: "decoder", tokens, cells }, { say }, { trace });
}

test("a head is a button that names its place in the trace, where this has its layer", () => {
  const { columns, cells } = laidOut(
    [],
    [
      [0, 0, 0.004, 1],
      [0, 1, -0.25, 2],
      [1, 0, 1, 3],
      [2, 1, 12.05, 4],
    ],
  );
  assert.equal(columns, undefined); // the table names heads
  assert.deepEqual(
    cells.map(({ layer, name, written }) => [layer, name, written]),
    [
      [0, "decoder/0/0", "0"],
      [0, "decoder/0/1", "−.25"],
      [1, undefined, "+1.00"],
      [2, "decoder/1/1", "+12.05"],
    ],
  );
  assert.equal(cells[1]?.title, "restored_cell L0 H1 −0.250 2.00 · restored_show");
});

test("a position has the tokens of both texts where they differ, and is no button", () => {
  const { columns, cells } = laidOut(
    [
      ["▁a", "▁a"],
      ["▁b", "▁c"],
    ],
    [
      [0, 0, 0.5, 1],
      [0, 1, 0, 2],
    ],
  );
  assert.deepEqual(columns, ["a", "pair_tokens b c"]);
  assert.deepEqual(
    cells.map(({ written, name }) => [written, name]),
    [
      ["+.50", undefined],
      ["0", undefined],
    ],
  );
  assert.equal(cells[0]?.title, "restored_cell restored_position 0 0 a +0.500 1.00");
});

test("the sentence names the place where both texts part", () => {
  const found = { prefix: null, step: 1, predicted: ["▁4", "▁7"], metrics: [2, -1] };
  const facts = { step: 1, prefix: "", one: "4", other: "7", clean: "2.00", corrupted: "−1.00" };
  const sentences = (decoded: object, masks: number[] = [], predicted = ["a"]) =>
    sentenceOf({ ...found, ...decoded } as Parameters<typeof sentenceOf>[0], { masks, predicted });
  assert.deepEqual(sentences({}), ["patched_first", facts]);
  const after = { step: 3, prefix: "Le chat" };
  assert.deepEqual(sentences(after), ["patched_after", { ...facts, ...after }]);
  assert.deepEqual(sentences({}, [2], []), ["patched_mask", facts]);
  const classes = { one: "1", other: "0" };
  assert.deepEqual(sentences({ predicted: [1, 0] }, [], []), [
    "patched_class",
    { ...facts, ...classes },
  ]);
});
