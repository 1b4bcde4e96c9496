import assert from "node:assert/strict";
import { test } from "node:test";
import {
  pairTable,
  patchedTable,
  similarityTable,
} from "../../../explorer/components/head_views/js/comparisonTables.ts";
import { siteOfCodes } from "./payloads.ts";

test("the table of two heads has both weights and their difference, masked cells empty", () => {
  const masked = Uint8Array.from([0, 0, 0, 1]); // of both: query 1 may not attend to key 1
  const one = siteOfCodes([[65535, 0, 65535, 0]], 2, { masked: () => masked });
  const two = siteOfCodes([[0, 65535, 13107, 0]], 2, { masked: () => masked, scale: 0.5 });
  const table = pairTable(
    ["late L0 H0", "=early L0 H0"],
    [
      { site: one, layer: 0, head: 0 },
      { site: two, layer: 0, head: 0 },
    ],
    Float32Array.from([-1, 0.5, -0.9, 0]),
    (side, position) => one[side][position],
  );
  assert.equal(
    table,
    [
      "query,query token,key,key token,late L0 H0,'=early L0 H0,difference",
      "0,q0,0,k0,1.0000,0.0000,-1",
      "0,q0,1,k1,0.0000,0.5000,0.5",
      "1,q1,0,k0,1.0000,0.1000,-0.9",
      "1,q1,1,k1,,,",
      "",
    ].join("\r\n"),
  );
});

test("the table of similarities has a line for each two heads, in the order on screen", () => {
  const values = [
    [0.25, 1],
    [0.5, 0.125],
  ];
  const table = similarityTable(["a", "b"], {
    rows: [
      { layer: 1, head: 0 },
      { layer: 0, head: 2 },
    ],
    columns: [
      { layer: 0, head: 0 },
      { layer: 0, head: 1 },
    ],
    values,
    matched: [
      [false, true],
      [false, false],
    ],
    texts: [],
    least: 0,
    most: 1,
  });
  assert.equal(
    table,
    [
      "a layer,a head,b layer,b head,similarity,matched",
      "1,0,0,0,0.2500,0",
      "1,0,0,1,1.0000,1",
      "0,2,0,0,0.5000,0",
      "0,2,0,1,0.1250,0",
      "",
    ].join("\r\n"),
  );
});

test("what was patched is a table as in Python, with both tokens of a position", () => {
  const heads = patchedTable({
    tables: [{ site: "cross", tokens: [], cells: [[0, 1, 0.25, -1.5]] }],
  });
  assert.equal(heads, "site,layer,head,metric,restored\r\ncross,0,1,-1.5,0.25\r\n");
  const positions = patchedTable({
    tables: [{ site: "encoder", tokens: [["▁a", "▁b"]], cells: [[0, 0, 0.12346, 2]] }],
  });
  assert.equal(
    positions,
    "stack,layer,position,clean_token,corrupted_token,metric,restored\r\n" +
      "encoder,0,0,▁a,▁b,2,0.1235\r\n",
  );
});
