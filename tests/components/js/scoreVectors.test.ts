import assert from "node:assert/strict";
import { test } from "node:test";
import {
  largestParts,
  readScoreVectors,
  scorePartsOf,
} from "../../../explorer/components/inside/js/scoreVectors.ts";
import { packPayload } from "./payloads.ts";

const HEADER = {
  query_parts: ["token", "bias"],
  key_parts: ["token", "position"],
  width: 2,
  scale: 0.5,
};
const QUERIES = [1, 2, 3, 4, /* bias */ 1, 0, 0, 1]; // two queries
const KEYS = [1, 1, 2, 0, 0, 2, /* position */ 2, 0, 0, -2, 4, 4]; // three keys

test("each part of the query is multiplied with each part of the key", () => {
  const found = readScoreVectors(
    packPayload(HEADER, { queries: ["float32", QUERIES], keys: ["float32", KEYS] }),
  );
  const parts = scorePartsOf(found, [0, 0, 1], 1, 1);
  assert.deepEqual(
    parts.map(({ query, key, value }) => [query, key, value]),
    [
      ["token", "token", 3],
      ["token", "position", -4],
      ["bias", "token", 0],
      ["bias", "position", -1],
    ],
  );
  // (3, 4) + (0, 1) times (2, 0) + (0, −2), halved
  assert.equal(
    parts.reduce((sum, { value }) => sum + value, 0),
    (3 * 2 - 5 * 2) / 2,
  );
  assert.deepEqual(
    parts.map(({ mean }) => mean),
    [3.25, -0.5, 0.25, -0.5],
  ); // of two keys
  assert.throws(() => readScoreVectors(packPayload(HEADER, {})), /no vectors/);
});

test("what is added by the distance is one more part", () => {
  const found = readScoreVectors(
    packPayload(HEADER, {
      queries: ["float32", QUERIES],
      keys: ["float32", KEYS],
      distance: ["float32", [0, 1, 2, 3, 4, 8]],
    }),
  );
  const parts = scorePartsOf(found, [0, 0, 1], 1, 1);
  assert.equal(parts.length, 5);
  const added = { query: "distance", key: "distance", value: 4, mean: 3.5 };
  assert.deepEqual(parts[4], added);
});

test("of many parts the largest are shown, and the others as one", () => {
  const parts = [1, -5, 0.5, 3].map((value) => ({ query: "a", key: "b", value, mean: 1 }));
  assert.equal(largestParts(parts, 4), parts);
  const shown = largestParts(parts, 3);
  assert.deepEqual(
    shown.map(({ value, mean }) => [value, mean]),
    [
      [-5, 1],
      [3, 1],
      [1.5, 2],
    ],
  );
  assert.equal(shown[2].query, "");
});
