/**
 * The fields of a look as words of an address, as `core/look.py` in Python reads and writes them.
 */

import { FIELDS, type Field, LARGEST_NUMBER, type Selection } from "./look.ts";
import type { ViewOptions } from "./trace.ts";

const READ: Record<Field["kind"], (word: string, choices: readonly string[]) => unknown> = {
  choice: (word, choices) => (choices.includes(word) ? word : null),
  number: (word) => wholeNumber(word, LARGEST_NUMBER),
  flag: (word) => word === "1" || null,
  switch: (word) => (word === "1" ? true : word === "0" ? false : null),
  pair: (word) => {
    const found = /^(\d{1,4})\.(\d{1,4})$/.exec(word);
    return found && [Number(found[1]), Number(found[2])];
  },
  zoom: (word) => {
    const found = /^(\d{1,4})-(\d{1,4})\.(\d{1,4})-(\d{1,4})$/.exec(word)?.slice(1).map(Number);
    return found && found[0] <= found[1] && found[2] <= found[3] ? found : null;
  },
};

/** The value of a word; null where it is refused. */
export function readWord({ kind, choices = [] }: Field, word: string) {
  return READ[kind](word, choices);
}

/** What words of an address say is shown: null for what they leave out or what is refused. */
export function viewOfWords(words: Record<string, string>): Partial<ViewOptions> {
  const shown = FIELDS.filter(({ state }) => state);
  const read = (field: Field) => (field.name in words ? readWord(field, words[field.name]) : null);
  return Object.fromEntries(shown.map((field) => [field.name, read(field)]));
}

/** The words of a selection, by their names. */
export function wordsOf(selection: Partial<Record<keyof Selection, unknown>>) {
  const query: Record<string, string> = {};
  for (const { name, kind } of FIELDS) {
    const value = selection[name];
    const named = value !== null && value !== undefined && (kind !== "flag" || value);
    if (named && (name !== "inside" || selection.cell)) query[name] = written(value, kind);
  }
  return query;
}

function written(value: unknown, kind: Field["kind"]) {
  if (kind === "zoom") {
    const [first, last, firstKey, lastKey] = value as number[];
    return `${first}-${last}.${firstKey}-${lastKey}`;
  }
  if (Array.isArray(value)) return value.join(".");
  return String(typeof value === "boolean" ? Number(value) : value);
}

/** A number from 0 to `most`; null for anything else. */
export function wholeNumber(word: string, most: number) {
  return /^\d{1,4}$/.test(word) && Number(word) <= most ? Number(word) : null;
}
