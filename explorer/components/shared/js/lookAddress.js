/**
 * The fields of a look as words of an address, as `core/look.py` in Python reads and writes them.
 *
 * @import { Field, Selection } from "./look.js"
 */

import { FIELDS, LARGEST_NUMBER } from "./look.js";

/** @type {Record<Field["kind"], (word: string, choices: readonly string[]) => unknown>} */
const READ = {
  choice: (word, choices) => (choices.includes(word) ? word : null),
  number: (word) => wholeNumber(word, LARGEST_NUMBER),
  flag: (word) => word === "1" || null,
  switch: (word) => (word === "1" ? true : word === "0" ? false : null),
  pair: (word) => {
    const found = /^(\d{1,4})\.(\d{1,4})$/.exec(word);
    return found && [Number(found[1]), Number(found[2])];
  },
};

/**
 * The value of a word; null where it is refused.
 * @param {Field} field
 * @param {string} word
 */
export function readWord({ kind, choices = [] }, word) {
  return READ[kind](word, choices);
}

/**
 * The words of a selection, by their names.
 * @param {Partial<Record<keyof Selection, unknown>>} selection
 */
export function wordsOf(selection) {
  /** @type {Record<string, string>} */
  const query = {};
  for (const { name, kind } of FIELDS) {
    const value = selection[name];
    const named = value !== null && value !== undefined && (kind !== "flag" || value);
    if (named && (name !== "inside" || selection.cell)) query[name] = written(value);
  }
  return query;
}

/** @param {unknown} value */
function written(value) {
  if (Array.isArray(value)) return value.join(".");
  return String(typeof value === "boolean" ? Number(value) : value);
}

/**
 * A number from 0 to `most`; null for anything else.
 * @param {string} word
 * @param {number} most
 */
export function wholeNumber(word, most) {
  return /^\d{1,4}$/.test(word) && Number(word) <= most ? Number(word) : null;
}
