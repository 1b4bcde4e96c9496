/**
 * Bytes as ASCII text, 7 characters for 6 bytes, as `explorer/components/live/model_script.py` writes
 * them: digits to base 116 of big-endian numbers of 48 bits.
 */

const LEFT_OUT = [0, 10, 13, 14, 15, 26, 27, 34, 38, 60, 92, 127]; // of the characters of ASCII
const GROUP = 6; // bytes
const LETTERS = 7;
const HALF = 2 ** 24; // of a number; the operators of bits take 32 of them
const QUOTE = 34;

const DIGIT = new Uint8Array(256); // by the code of a character
const USED = Array.from({ length: 128 }, (_, code) => code).filter((c) => !LEFT_OUT.includes(c));
for (const [digit, code] of USED.entries()) DIGIT[code] = digit;
const BASE = USED.length;
const LAST_THREE = BASE ** 3;

/**
 * The first `length` bytes; fewer of a text that was cut off. What is no such text gives other bytes.
 * @param {Uint8Array} text
 * @param {number} length
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function decodeText(text, length) {
  const groups = Math.floor(text.length / LETTERS);
  const bytes = new Uint8Array(groups * GROUP);
  for (let group = 0, from = 0, to = 0; group < groups; group++, from += LETTERS, to += GROUP) {
    const [a, b, c] = [DIGIT[text[from]], DIGIT[text[from + 1]], DIGIT[text[from + 2]]];
    const first = ((a * BASE + b) * BASE + c) * BASE + DIGIT[text[from + 3]];
    const [e, f, g] = [DIGIT[text[from + 4]], DIGIT[text[from + 5]], DIGIT[text[from + 6]]];
    const number = first * LAST_THREE + (e * BASE + f) * BASE + g;
    const high = Math.floor(number / HALF);
    const low = number - high * HALF;
    bytes[to] = high >> 16;
    bytes[to + 1] = high >> 8;
    bytes[to + 2] = high;
    bytes[to + 3] = low >> 16;
    bytes[to + 4] = low >> 8;
    bytes[to + 5] = low;
  }
  return bytes.subarray(0, length);
}

/**
 * The text in a model's script: what stands between its quotes.
 * @param {Uint8Array} script
 */
export function textInScript(script) {
  return script.subarray(script.indexOf(QUOTE) + 1, script.lastIndexOf(QUOTE));
}
