import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeText, textInScript } from "../../../explorer/components/live/js/modelText.js";
import { scriptOf, textOf } from "./modelScripts.mjs";

/** @param {string} text */
const coded = (text) => new TextEncoder().encode(text);

test("the numbers at both ends of a group come back", () => {
  const first = "\x01".repeat(7); // seven times the digit 0
  assert.deepEqual([...decodeText(coded(first), 6)], [0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...decodeText(coded(`${first.slice(1)}\x02`), 6)], [0, 0, 0, 0, 0, 1]);
  // 2 ** 48 - 1 = 115·116⁶ + 61·116⁵ + 45·116⁴ + 27·116³ + 85·116² + 91·116 + 51
  assert.deepEqual([...decodeText(coded("~G6#`f="), 6)], Array(6).fill(255));
});

test("bytes of any length come back as they were", () => {
  const bytes = Uint8Array.from({ length: 9001 }, (_, index) => (index * 7919) >> 3);
  for (const length of [0, 1, 5, 6, 7, 12, 9001]) {
    const part = bytes.subarray(0, length);
    assert.deepEqual(decodeText(coded(textOf(part)), length), part);
  }
});

test("of a text that was cut off there is what its whole groups say", () => {
  const text = textOf(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  assert.deepEqual([...decodeText(coded(text.slice(0, 13)), 8)], [1, 2, 3, 4, 5, 6]);
  assert.equal(decodeText(coded("<h1>"), 8).length, 0);
  assert.notDeepEqual([...decodeText(coded("七个字不是它"), 8)], [1, 2, 3, 4, 5, 6, 7, 8]);
});

test("the text of a script stands between its quotes", () => {
  const bytes = Uint8Array.of(9, 8, 7);
  const text = textInScript(coded(scriptOf(bytes)));
  assert.equal(new TextDecoder().decode(text), textOf(bytes));
  assert.equal(textInScript(coded('receiveModel("')).length, 0);
});
