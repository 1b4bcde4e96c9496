import assert from "node:assert/strict";
import { test } from "node:test";
import { FIELDS } from "../../../explorer/components/trace/js/look.ts";
import { readWord, wordsOf } from "../../../explorer/components/trace/js/lookAddress.ts";
import { sharedExamples } from "./sharedExamples.ts";

const { words, selections } = sharedExamples("address");

test("a word is read as its field, or refused, as in the app", () => {
  for (const [name, word, value] of words) {
    const field = FIELDS.find((one) => one.name === name);
    assert.ok(field);
    assert.deepEqual(readWord(field, word), value, `${name}=${word}`);
  }
});

test("what is named is written as in the app; what is off or null is left out", () => {
  for (const [selection, query] of selections) assert.deepEqual(wordsOf(selection), query);
  assert.deepEqual(wordsOf({ head: null, guess: null, words: false }), {});
});
