import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bringsBack,
  layOut,
  selectionOf,
  sentenceOf,
  shownPlaces,
} from "../../../explorer/components/head_views/js/patchedTables.ts";
import type { PatchedTable } from "../../../explorer/components/head_views/js/viewPayload.ts";
import type { TraceOnScreen } from "../../../explorer/components/trace/js/stepState.ts";

const say = (key: string, facts: object = {}) => [key, ...Object.values(facts)].join(" ");

/** A trace that has the layers 0 and 2 of the model. */
const trace = { sites: { decoder: { numbers: [0, 2] } } } as unknown as Parameters<
  typeof layOut
>[2]["trace"];

function laidOut(tokens: PatchedTable["tokens"], cells: PatchedTable["cells"]) {
  return layOut({ site: "decoder", tokens, cells }, { say }, { trace });
}

test("a head has its place in the trace, where this has its layer", () => {
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
    cells.map(({ layer, place, written }) => [layer, place, written]),
    [
      [0, { site: "decoder", layer: 0, head: 0 }, "0"],
      [0, { site: "decoder", layer: 0, head: 1 }, "−.25"],
      [1, undefined, "+1.00"],
      [2, { site: "decoder", layer: 1, head: 1 }, "+12.05"],
    ],
  );
  assert.equal(cells[1]?.title, "restored_cell L0 H1 −0.250 2.00 · restored_show");
});

test("a position has the tokens of both texts where they differ, and its row", () => {
  const { columns, cells } = laidOut(
    [
      ["▁a", "▁a"],
      ["▁b", "▁c"],
    ],
    [
      [2, 0, 0.5, 1],
      [1, 1, 0, 2],
    ],
  );
  assert.deepEqual(columns, ["a", "pair_tokens b c"]);
  assert.deepEqual(
    cells.map(({ written, place }) => [written, place]),
    [
      ["+.50", { site: "decoder", layer: 1, position: 0 }],
      ["0", undefined],
    ],
  );
  const title = "restored_cell restored_position 2 0 a +0.500 1.00 · restored_row";
  assert.equal(cells[0]?.title, title);
});

test("one head or position is said to bring back a share of the difference, or to widen it", () => {
  const head = { site: "cross", layer: 1, head: 7 } as const;
  const position = { site: "encoder", layer: 1, position: 1 } as const;
  const said = (value: number, place: typeof head | typeof position) =>
    bringsBack({ name: "x", value, place });
  assert.deepEqual(said(0.104, head), ["brings_back_head", { name: "x", share: "10\u00a0%" }]);
  assert.deepEqual(said(0.001, head), ["brings_back_head", { name: "x", share: "0\u00a0%" }]);
  assert.deepEqual(said(-0.25, head), ["widens_head", { name: "x", share: "25\u00a0%" }]);
  assert.deepEqual(said(1, position)[0], "brings_back_position");
  assert.deepEqual(said(-1, position)[0], "widens_position");
});

/** A translator with two heads of the encoder, which shows a head. */
function showing(state: Partial<TraceOnScreen["state"]>): TraceOnScreen {
  const sites = { encoder: { heads: 2 }, decoder: { heads: 4 }, cross: { heads: 4 } };
  return { trace: { sites, masks: [] }, state } as unknown as TraceOnScreen;
}

test("a click on a position selects its row, in cross-attention where that is on screen", () => {
  const decoder = { site: "decoder", layer: 1, position: 2 } as const;
  const row = { layer: 1, head: 3, step: 3 };
  for (const site of ["cross", "decoder"] as const) {
    const context = showing({ site, head: 3 });
    assert.deepEqual(selectionOf(decoder, context), { site, ...row });
    const after = showing({ site, ...row, hover: null });
    assert.deepEqual(shownPlaces(after), [{ site, layer: 1, head: 3 }, decoder]);
  }
  const encoder = { site: "encoder", layer: 0, position: 4 } as const;
  assert.equal(selectionOf(decoder, showing({ site: "encoder", head: 0 })).site, "decoder");
  const patch = selectionOf(encoder, showing({ site: "cross", head: 3 }));
  const place = { layer: 0, head: 1 };
  const hover = { query: 4, key: null, ...place, x: 0, y: 0 };
  assert.deepEqual(patch, { site: "encoder", ...place, hover });
  assert.deepEqual(shownPlaces(showing(patch)), [{ site: "encoder", ...place }, encoder]);
  const cell = showing({ ...patch, hover: { ...hover, key: 1 } }); // a pointer on the map
  assert.deepEqual(shownPlaces(cell), [{ site: "encoder", ...place }]);
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
