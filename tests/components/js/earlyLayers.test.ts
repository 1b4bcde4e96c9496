import assert from "node:assert/strict";
import { test } from "node:test";
import { readEarlyLayers } from "../../../explorer/components/inside/js/earlyLayers.ts";
import { packPayload } from "./payloads.ts";

test("each layer has its first tokens after each query", () => {
  const early = [
    [
      ["a", "b"],
      ["c", "d"],
    ],
    [
      ["e", "f"],
      ["g", "h"],
    ],
  ];
  const shares = [0.5, 0.25, 0.75, 0.125, 0.625, 0.25, 0.5, 0.375];
  const bytes = packPayload({ early, counts: { queries: 2 } }, { early: ["float32", shares] });
  const { layers } = readEarlyLayers(bytes);
  assert.equal(layers.length, 2);
  assert.deepEqual(layers[1].early(0), [
    { label: "e", probability: 0.625 },
    { label: "f", probability: 0.25 },
  ]);
  assert.deepEqual(layers[0].early(1)[1], { label: "d", probability: 0.125 });
  assert.equal(layers[0].counts.queries, 2);
});
