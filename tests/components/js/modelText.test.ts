import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeText, textInScript } from "../../../explorer/components/live/js/modelText.ts";
import { scriptOf, textOf } from "./modelScripts.ts";

const coded = (text: string) => new TextEncoder().encode(text);

test("the first bytes of pairs are the digits of one number", () => {
  const first = "\x01".repeat(7); // seven times the digit 0
  const second = "\x01".repeat(6);
  const decoded = (text: string) => [...decodeText(coded(text + second), 12)];
  assert.deepEqual(decoded(first), Array(12).fill(0));
  assert.deepEqual(decoded(`${first.slice(1)}\x02`), [...Array(10).fill(0), 1, 0]);
  // 2 ** 48 - 1 = 115·116⁶ + 61·116⁵ + 45·116⁴ + 27·116³ + 85·116² + 91·116 + 51
  assert.deepEqual(decoded("~G6#`f="), Array(6).fill([255, 0]).flat());
});

test("the second bytes are turned right by one bit, from one digit or two", () => {
  const first = "\x01".repeat(7);
  const decoded = (text: string) => decodeText(coded(first + text), 2)[1];
  assert.equal(decoded("\x01"), 0);
  assert.equal(decoded("\x02"), 0b1000_0000);
  assert.equal(decoded("|"), 0b1011_1000); // the digit 113 = 0b0111_0001
  assert.equal(decoded("}\x01"), 0b0011_1001); // 114 = 0b0111_0010
  assert.equal(decoded("}~"), 0b1111_0010); // 114 + 115 = 0b1110_0101
  assert.equal(decoded("~ "), 0b1111_1111); // 114 + 116 + 25 = 0b1111_1111
});

test("bytes of any length come back as they were", () => {
  const bytes = Uint8Array.from({ length: 9001 }, (_, index) => (index * 7919) >> 3);
  for (const length of [0, 1, 5, 6, 7, 12, 9001]) {
    const part = bytes.subarray(0, length);
    assert.deepEqual(decodeText(coded(textOf(part)), length), part);
  }
});

test("a text that was cut off, or is none, gives other bytes", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const text = textOf(bytes);
  for (const other of [text.slice(0, -1), text.slice(0, 6), "", "<h1>", "七个字不是它"]) {
    const decoded = decodeText(coded(other), 8);
    assert.equal(decoded.length, 8);
    assert.notDeepEqual(decoded, bytes);
  }
});

test("the text of a script stands between its quotes", () => {
  const bytes = Uint8Array.of(9, 8, 7);
  const text = textInScript(coded(scriptOf(bytes)));
  assert.equal(new TextDecoder().decode(text), textOf(bytes));
  assert.equal(textInScript(coded('receiveModel("')).length, 0);
});
