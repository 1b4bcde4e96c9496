/**
 * What is on screen as the fragment of the address, `#model=reverse&text=7+3+9…`, with the parameters
 * of the app's own links. A fragment is untrusted text: what fails a check is left out.
 *
 * @import { Selection } from "../../shared/js/selectionReport.js"
 * @import { LiveRequest } from "./modelWorker.js"
 * @import { OpeningView } from "./openingView.js"
 * @import { LiveModel } from "./liveModel.js"
 * @typedef {{request: LiveRequest, view: OpeningView, language: string | null, refused: string[]}} Visit
 *   refused: names of parameters that were left out
 */

import { openingRequest } from "./liveModel.js";

export const MOST_PADDING = 16;
const MOST_FORCED = 64;
export const LONGEST_TEXT = 20_000; // characters of a text in a link; models read fewer
const SITES = ["encoder", "decoder", "cross"];
const TIMINGS = ["prediction", "input"];
const INSIDE_VIEWS = ["before", "after", "depth", "without"];

/**
 * @param {string} fragment with or without "#"
 * @param {LiveModel[]} models the first is opened where none is named
 * @param {string[]} languages
 * @returns {Visit}
 */
export function readAddress(fragment, models, languages) {
  const query = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {string[]} */
  const refused = [];
  /** @type {<Value>(name: string, read: (text: string) => Value | null) => Value | null} */
  const take = (name, read) => {
    const text = query.get(name);
    if (text === null) return null;
    const value = read(text);
    if (value === null) refused.push(name);
    return value;
  };
  const named = take("model", (name) => models.find((model) => model.name === name) ?? null);
  const model = named ?? models[0];
  const same = !refused.length; // another model has other tokens and heads
  const opening = openingRequest(model);
  const text = take("text", (given) => (given.length <= LONGEST_TEXT ? given : null));
  const request = {
    model: model.name,
    text: text ?? opening.text,
    pad: take("pad", (given) => whole(given, MOST_PADDING)) ?? opening.pad,
    forced: (same ? take("force", forcedIn) : null) ?? [],
  };
  const view = same ? viewIn(take) : {};
  const language = take("lang", (given) => (languages.includes(given) ? given : null));
  return { request, view, language, refused };
}

/**
 * @param {<Value>(name: string, read: (text: string) => Value | null) => Value | null} take
 * @returns {OpeningView}
 */
function viewIn(take) {
  const flag = (/** @type {string} */ text) => (text === "1" ? true : text === "0" ? false : null);
  const cell = take("cell", (text) => {
    const found = /^(\d{1,4})\.(\d{1,4})$/.exec(text);
    return found ? /** @type {[number, number]} */ ([Number(found[1]), Number(found[2])]) : null;
  });
  /** @type {Record<string, unknown>} */
  const view = {
    site: take("site", (text) => (SITES.includes(text) ? text : null)),
    layer: take("layer", (text) => whole(text, 9999)),
    head: take("head", (text) => whole(text, 9999)),
    step: take("step", (text) => whole(text, 9999) || null),
    alignment: take("alignment", (text) => (TIMINGS.includes(text) ? text : null)),
    guess: take("guess", flag),
    ahead: take("ahead", flag),
    cell,
    inside: take("inside", (text) => (INSIDE_VIEWS.includes(text) ? text : null)),
    words: take("words", (text) => (text === "1" ? true : null)),
  };
  const given = Object.entries(view).filter(([, value]) => value !== null);
  const mean = view.layer !== null && view.head === null; // not the head that the model opens with
  return Object.fromEntries(mean ? [...given, ["head", null]] : given);
}

/**
 * The fragment that `readAddress` reads back.
 * @param {LiveRequest} request
 * @param {OpeningView | Partial<Selection>} selection
 * @param {string} language
 */
export function writeAddress({ model, text, pad, forced }, selection, language) {
  const query = new URLSearchParams({ model, text, pad: String(pad) });
  if (forced.length) query.set("force", forced.map((one) => one.join(".")).join("_"));
  const { site, layer, head, step, alignment, guess, ahead, cell, inside, words } = selection;
  const named = { site, layer, head, step, alignment, inside };
  for (const [name, value] of Object.entries(named)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  if (guess) query.set("guess", "1");
  if (words) query.set("words", "1");
  if (typeof ahead === "boolean") query.set("ahead", String(Number(ahead)));
  if (cell) query.set("cell", cell.join("."));
  query.set("lang", language);
  return `#${query}`;
}

/**
 * A number from 0 to `most`; null for anything else.
 * @param {string} text
 * @param {number} most
 */
function whole(text, most) {
  return /^\d{1,4}$/.test(text) && Number(text) <= most ? Number(text) : null;
}

/**
 * (step, id) of forced tokens in the order of their steps.
 * @param {string} text
 * @returns {[number, number][] | null}
 */
function forcedIn(text) {
  const parts = text.split("_").map((part) => /^(\d{1,4})\.(\d{1,7})$/.exec(part));
  if (parts.length > MOST_FORCED || parts.some((part) => !part || Number(part[1]) < 1)) return null;
  const pairs = new Map(parts.map((part) => [Number(part?.[1]), Number(part?.[2])]));
  return [...pairs].sort(([one], [other]) => one - other);
}
