/**
 * Bytes as ASCII text, as `explorer/components/live/model_script.py` writes them: the first bytes of
 * all pairs as digits to base 116 of big-endian numbers of 48 bits, then the second ones, each
 * turned left by one bit, as one digit or two.
 */

const LEFT_OUT = [0, 10, 13, 14, 15, 26, 27, 34, 38, 60, 92, 127]; // of the characters of ASCII
const GROUP = 6; // first bytes
const LETTERS = 7;
const HALF = 2 ** 24; // of a number; the operators of bits take 32 of them
const QUOTE = 34;

const DIGIT = new Uint8Array(256); // by the code of a character
const USED = Array.from({ length: 128 }, (_, code) => code).filter((c) => !LEFT_OUT.includes(c));
for (const [digit, code] of USED.entries()) DIGIT[code] = digit;
const BASE = USED.length;
const LAST_THREE = BASE ** 3;
const SINGLE = BASE - 2; // the last two digits begin pairs

/** `length` bytes. What is no such text, or was cut off, gives other bytes. */
export function decodeText(text: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length); // which ignores what is written behind its end
  const end = Math.ceil(length / 2 / GROUP) * LETTERS;
  for (let from = 0, to = 0; from < end; from += LETTERS, to += 2 * GROUP) {
    const [a, b, c] = [DIGIT[text[from]], DIGIT[text[from + 1]], DIGIT[text[from + 2]]];
    const first = ((a * BASE + b) * BASE + c) * BASE + DIGIT[text[from + 3]];
    const [e, f, g] = [DIGIT[text[from + 4]], DIGIT[text[from + 5]], DIGIT[text[from + 6]]];
    const number = first * LAST_THREE + (e * BASE + f) * BASE + g;
    const high = Math.floor(number / HALF);
    const low = number - high * HALF;
    bytes[to] = high >> 16;
    bytes[to + 2] = high >> 8;
    bytes[to + 4] = high;
    bytes[to + 6] = low >> 16;
    bytes[to + 8] = low >> 8;
    bytes[to + 10] = low;
  }
  for (let from = end, to = 1; to < length; to += 2) {
    let turned = DIGIT[text[from++]];
    if (turned >= SINGLE) turned = SINGLE + (turned - SINGLE) * BASE + DIGIT[text[from++]];
    bytes[to] = (turned >> 1) | (turned << 7);
  }
  return bytes;
}

/** The text in a model's script: what stands between its quotes. */
export function textInScript(script: Uint8Array) {
  return script.subarray(script.indexOf(QUOTE) + 1, script.lastIndexOf(QUOTE));
}
