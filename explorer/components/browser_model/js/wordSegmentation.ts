/**
 * Tokens grouped into words, as `explorer/core/word_segmentation.py` does it for the mark of
 * SentencePiece, "▁" before a word's first piece; models trained here have no other.
 */

import { isSpecial, WORD_START as MARK } from "../../trace/js/label.ts";
import { words as split } from "./vocabulary.ts";

export type Word = { label: string; start: number; stop: number }; // the tokens `start` to `stop` − 1

/** The fewest tokens that spell whole characters. */
export type Unit = { start: number; stop: number; text: string; marked: boolean; special: boolean };

const BYTES = /^(?:<0x[0-9A-F]{2}>)+$/;
const LONGEST_CHARACTER = 4; // bytes in UTF-8
const JOINER = "\u200d"; // makes one emoji of two
const FORMLESS = /^(?:\p{Cf}|\p{Mn}|\p{Mc}|\p{Me}|\p{EMod})*$/u;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;
const JOINS_LETTERS = new Set("'’-‐‑");
const JOINS_DIGITS = new Set(".,:");
const ALPHANUMERIC = /^[\p{L}\p{N}]$/u;
const DECIMAL = /^\p{Nd}$/u;

/** Letters of scripts without spaces between words, by Python's names of characters. */
const SPACELESS =
  /^[\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17f9\u19e0-\u19ff\u2e80-\u2ef3\u3041-\u3096\u309b-\u30ff\u31c0-\u31e3\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufad9\u{1aff0}-\u{1affe}\u{1b000}-\u{1b001}\u{1b11f}-\u{1b167}\u{20000}-\u{323af}]$/u;

/** Whether these labels mark where words begin; bytes are of a vocabulary that does. */
export function marksWords(tokens: readonly string[]) {
  return tokens.some((token) => token.startsWith(MARK) || BYTES.test(token));
}

/**
 * The words that these tokens spell, in order; every token is in exactly one.
 * @param marked whether labels mark where words begin; else every token is a word
 */
export function grouped(tokens: readonly string[], marked: boolean): Word[] {
  if (!marked) return tokens.map((label, start) => ({ label, start, stop: start + 1 }));
  const units = joined(spelling(tokens));
  const starts = units.flatMap((_, position) => (begins(units, position) ? [position] : []));
  return starts.map((start, index) => wordOf(units.slice(start, starts[index + 1])));
}

function wordOf(units: Unit[]): Word {
  const label = units.map(({ text }) => text).join("") || MARK;
  return { label, start: units[0].start, stop: units[units.length - 1].stop };
}

/** The tokens as units; those that only together spell a character are one. */
function spelling(tokens: readonly string[]) {
  const units: Unit[] = [];
  for (let start = 0; start < tokens.length; start = units[units.length - 1].stop) {
    const token = tokens[start];
    if (isSpecial(token)) {
      units.push({ start, stop: start + 1, text: token, marked: true, special: true });
    } else {
      const { stop, text } = character(tokens, start);
      units.push({ start, stop, text, marked: token.startsWith(MARK), special: false });
    }
  }
  return units;
}

/** The units, each without a form of its own joined with its neighbour. */
function joined(units: Unit[]) {
  const whole: Unit[] = [];
  for (const unit of units) {
    const before = whole[whole.length - 1];
    if (before && belongs(unit, before)) {
      whole[whole.length - 1] = { ...before, stop: unit.stop, text: before.text + unit.text };
    } else {
      whole.push(unit);
    }
  }
  return whole;
}

/** Whether a unit forms one character with the unit before it. */
function belongs(unit: Unit, before: Unit) {
  if (unit.special || unit.marked || before.special || !unit.text) return false;
  if (before.text.endsWith(JOINER) || FORMLESS.test(first(unit.text))) return true;
  return before.text !== "" && FORMLESS.test(before.text);
}

/**
 * The shortest run of tokens from `start` on that spells whole characters; the token alone with its
 * label, where no run does.
 */
function character(tokens: readonly string[], start: number) {
  const raw: number[] = [];
  const last = Math.min(start + LONGEST_CHARACTER, tokens.length);
  for (let stop = start; stop < last; stop++) {
    const token = tokens[stop];
    if (stop > start && (isSpecial(token) || token.startsWith(MARK))) break;
    raw.push(...bytesOf(token));
    const text = decoded(raw);
    if (text !== null) return { stop: stop + 1, text: stripped(text) };
  }
  return { stop: start + 1, text: tokens[start] };
}

/** The bytes that a token spells, with a space for its mark. */
function bytesOf(token: string) {
  const bare = token.startsWith(MARK) ? token.slice(MARK.length) : token;
  if (!BYTES.test(bare)) return new TextEncoder().encode(token.replaceAll(MARK, " "));
  const numbers = [...bare.matchAll(/<0x([0-9A-F]{2})>/g)].map(([, digits]) => digits);
  const bytes = numbers.map((digits) => Number.parseInt(digits, 16));
  return bare === token ? bytes : [0x20, ...bytes];
}

/** The text of UTF-8; null where it is none. */
function decoded(bytes: number[]) {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** `text` without white space at both ends, as Python's `str.strip`. */
function stripped(text: string) {
  const parts = split(text);
  if (!parts.length) return "";
  const end = text.lastIndexOf(parts[parts.length - 1]) + parts[parts.length - 1].length;
  return text.slice(text.indexOf(parts[0]), end);
}

/** Whether a word begins with the unit at `position`. */
function begins(units: Unit[], position: number) {
  const unit = units[position];
  if (position === 0 || unit.special || unit.marked) return true;
  const before = units[position - 1];
  if (before.special) return true;
  if (!before.text) return false; // a mark alone: the word begins there
  if (isAlone(units, position) || isAlone(units, position - 1)) return true;
  return SPACELESS.test(first(unit.text)) || SPACELESS.test(last(before.text));
}

/** Whether a unit is punctuation that is not part of a word or a number. */
function isAlone(units: Unit[], position: number) {
  const { text, marked } = units[position];
  const visible = [...text].filter((letter) => !FORMLESS.test(letter)).join("");
  if (!PUNCTUATION.test(visible)) return false;
  const [before, after] = [units[position - 1], units[position + 1]];
  if (marked || !before || !after) return true;
  if (before.special || after.special || after.marked) return true;
  const sides = [last(before.text), first(after.text)];
  const letters = JOINS_LETTERS.has(text) && sides.every((side) => ALPHANUMERIC.test(side));
  return !letters && !(JOINS_DIGITS.has(text) && sides.every((side) => DECIMAL.test(side)));
}

function first(text: string) {
  return [...text].slice(0, 1).join("");
}

function last(text: string) {
  return [...text].slice(-1).join("");
}
