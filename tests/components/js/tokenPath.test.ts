import assert from "node:assert/strict";
import { test } from "node:test";
import { grouped } from "../../../explorer/components/inside/js/box.ts";
import { readOmission } from "../../../explorer/components/inside/js/omission.ts";
import { cosine } from "../../../explorer/components/inside/js/positions.ts";
import { readTokenPath } from "../../../explorer/components/inside/js/tokenPath.ts";
import { packPayload } from "./payloads.ts";

const HEADER = {
  config: { d_model: 2 },
  counts: { queries: 2, keys: 3 },
  candidates: [
    ["a", "b"],
    ["c", "d"],
  ],
};
const ARRAYS: Record<string, ["float32", number[]]> = {
  input: ["float32", [1, 2, 3, 4]],
  hidden: ["float32", [0, 0, 5, 6, 7, 8]],
  logits: ["float32", [2, 1, 4, 3]],
  sums: ["float32", [2, 5]],
};

test("a vector is the row of its query, of its own width", () => {
  const path = readTokenPath(packPayload(HEADER, ARRAYS));
  assert.deepEqual([...path.vector("input", 1)], [3, 4]);
  assert.deepEqual([...path.vector("hidden", 0)], [0, 0, 5]);
  assert.throws(() => path.vector("stack", 0), /no stack/);
});

test("probabilities follow from the logits and the sum over the vocabulary", () => {
  const path = readTokenPath(packPayload(HEADER, ARRAYS));
  const [first, second] = path.candidates(1);
  assert.deepEqual([first.label, first.logit, second.logit], ["c", 4, 3]);
  assert.ok(Math.abs(first.probability - Math.exp(-1)) < 1e-12);
  const encoder = readTokenPath(packPayload({ ...HEADER, candidates: [] }, ARRAYS));
  assert.deepEqual(encoder.candidates(0), []);
});

test("similar positions have a cosine near 1", () => {
  assert.equal(cosine(new Float32Array([3, 4]), new Float32Array([6, 8])), 1);
  assert.equal(cosine(new Float32Array([1, 0]), new Float32Array([0, 2])), 0);
});

test("thousands are set apart", () => {
  assert.deepEqual([7, 1234, 2048000].map(grouped), ["7", "1\u202f234", "2\u202f048\u202f000"]);
});

test("a head without a part has its own tokens and text", () => {
  const header = { queries: ["<bos>", "a"], keys: ["<bos>", "a"], text: "a" };
  const arrays: Record<string, ["float32" | "uint8", number[]]> = {
    weights: ["float32", [1, 0, 0.5, 0.5]],
    masked: ["uint8", [0, 1, 0, 0]],
  };
  const found = readOmission(packPayload(header, arrays));
  assert.deepEqual([found.queries, found.text], [["<bos>", "a"], "a"]);
  assert.deepEqual(
    [[...found.weights], [...found.masked]],
    [
      [1, 0, 0.5, 0.5],
      [0, 1, 0, 0],
    ],
  );
  assert.throws(() => readOmission(packPayload(header, {})), /no weights/);
});
