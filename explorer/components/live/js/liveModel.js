/**
 * What the page knows of a model before its file is there; `explorer/components/live/page.py` writes
 * it.
 *
 * @import { LiveRequest } from "./modelWorker.js"
 * @typedef {object} LiveModel
 * @property {string} name
 * @property {number} bytes of its file
 * @property {number} scriptBytes of the script that has it as a text
 * @property {string} sha256 of its file
 * @property {Record<string, string>} label by language
 * @property {Record<string, string>} short label where there is little room
 * @property {Record<string, string>} intro what the model does, and how to begin
 * @property {Record<string, string>} placeholder by language, what may be typed
 * @property {{text: string, hint: Record<string, string>}[]} examples the first is opened
 * @property {string[]} symbols what it reads; empty where it reads sentences
 * @property {number} longest tokens of a text of its training, its end not counted
 * @property {string[]} sourceWords the frequent ones of a model of sentences; none where not known
 * @property {string[]} targetWords
 * @property {string[]} sentences to draw random texts from
 * @property {{site: "cross", layer: number, head: number} | null} opening the head to open with
 */

const SHORTEST_RANDOM = 5;
const LONGEST_RANDOM = 9;
const MOST_DRAWS = 100;

/**
 * What a model opens with.
 * @param {LiveModel} model
 * @returns {LiveRequest}
 */
export function initialRequest({ name, examples }) {
  return { model: name, text: examples[0].text, pad: 0, forced: [] };
}

/**
 * What a model opens with that is chosen after another one: the person's own text, where it can read
 * that, else its first example.
 * @param {LiveModel} model
 * @param {LiveModel} before
 * @param {string} text in the text box; an example of `before` is not the person's own
 * @returns {LiveRequest}
 */
export function requestAfter(model, before, text) {
  const initial = initialRequest(model);
  if (before.examples.some((example) => example.text === text) || !reads(model, text))
    return initial;
  const alike = Boolean(before.symbols.length) === Boolean(model.symbols.length);
  return alike || !reads(before, text) ? { ...initial, text } : initial; // symbols are no sentence
}

/**
 * Whether a text means something to a model: all its symbols are known or, for a model of sentences,
 * it has a word, in a script of the examples.
 * @param {LiveModel} model
 * @param {string} text
 */
export function reads({ symbols, examples }, text) {
  const given = text.split(/\s+/).filter(Boolean);
  if (symbols.length) return given.length > 0 && given.every((one) => symbols.includes(one));
  const own = examples.some((example) => isChinese(example.text) === isChinese(text));
  return own && /\p{L}{2}/u.test(text);
}

/** @param {string} text */
export function isChinese(text) {
  return /[\u4e00-\u9fff]/u.test(text);
}

/**
 * Another text than `shown`, where the model has another.
 * @param {LiveModel} model
 * @param {string} shown
 */
export function randomText(model, shown) {
  for (let draws = 0; draws < MOST_DRAWS; draws++) {
    const drawn = drawText(model);
    if (drawn !== shown) return drawn;
  }
  return shown;
}

/** @param {LiveModel} model */
function drawText({ symbols, longest, sentences, examples }) {
  if (!symbols.length) {
    const texts = sentences.length ? sentences : examples.map(({ text }) => text);
    return texts[below(texts.length)];
  }
  const span = LONGEST_RANDOM - SHORTEST_RANDOM + 1;
  const length = Math.min(SHORTEST_RANDOM + below(span), longest);
  return Array.from({ length }, () => symbols[below(symbols.length)]).join(" ");
}

/**
 * A whole number from 0, less than `count`.
 * @param {number} count
 */
function below(count) {
  return Math.floor(Math.random() * count);
}
