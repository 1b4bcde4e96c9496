export type Strings = Record<string, string>; // sentences by key

export type Facts = Record<string, unknown>; // values for the placeholders of a sentence

export type Say = (key: string, facts?: Facts) => string;

/** Characters of scripts that are written from right to left, and their numbers. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** A word that agrees with a number: "{count:file|files}", as in `core/i18n.py`. */
const PLURAL = /\{(\w+):([^{}|]*)\|([^{}|]*)\}/g;
export const ISOLATE = "\u2068";
export const POP_ISOLATE = "\u2069";

/**
 * `text` inside another one: written from right to left it is set apart, so that numbers, signs and
 * arrows beside it keep their places, as `core/i18n.py`.
 */
export function isolated(text: string) {
  const alone = RIGHT_TO_LEFT.test(text) && !text.includes(ISOLATE);
  return alone ? `${ISOLATE}${text}${POP_ISOLATE}` : text;
}

/** The sentence under `key` with its placeholders filled in; the key itself where there is none. */
export function fillIn(strings: Strings, key: string, facts: Facts = {}) {
  const sentence = strings[key] ?? key;
  const agreeing = sentence.replace(PLURAL, (placeholder, name, one, several) =>
    name in facts ? (String(facts[name]) === "1" ? one : several) : placeholder,
  );
  return agreeing.replace(/\{(\w+)\}/g, (placeholder, name) =>
    name in facts ? isolated(String(facts[name])) : placeholder,
  );
}
