import assert from "node:assert/strict";
import { test } from "node:test";
import { FIELDS } from "../../../explorer/components/trace/js/look.ts";
import { readWord, wordsOf } from "../../../explorer/components/trace/js/lookAddress.ts";

const read: (name: string, word: string) => unknown = (name, word) => {
  const field = FIELDS.find((one) => one.name === name);
  assert.ok(field);
  return readWord(field, word);
};

test("a word is read as its field, or refused", () => {
  const words: [string, string, unknown][] = [
    ["site", "cross", "cross"],
    ["site", "Cross", null],
    ["layer", "007", 7],
    ["layer", "10000", null],
    ["head", "-1", null],
    ["guess", "1", true],
    ["guess", "0", null],
    ["ahead", "0", false],
    ["ahead", "2", null],
    ["cell", "3.5", [3, 5]],
    ["cell", "3.5.1", null],
    ["inside", "score", "score"],
    ["inside", "cell", null],
    ["shows", "rollout", "rollout"],
    ["next", "percent", null],
  ];
  for (const [name, word, value] of words) assert.deepEqual(read(name, word), value, name);
});

test("what is named is written and read back; what is off or null is left out", () => {
  const selection = { site: "cross", layer: 0, head: null, step: 2, guess: null, ahead: false };
  const more = { cell: [1, 0], inside: "depth", words: true };
  const query = wordsOf({ ...selection, ...more });
  assert.deepEqual(query, {
    site: "cross",
    layer: "0",
    step: "2",
    ahead: "0",
    cell: "1.0",
    inside: "depth",
    words: "1",
  });
  for (const [name, word] of Object.entries(query))
    assert.deepEqual(read(name, word), { ...selection, ...more }[name as "site"], name);
  assert.deepEqual(wordsOf({ inside: "depth", words: false }), {}); // of a cell that is not named
});
