/**
 * What the page knows of a model before its file is there; `explorer/components/live/page.py` writes
 * it.
 *
 * @import { LiveRequest } from "./modelWorker.js"
 * @typedef {object} LiveModel
 * @property {string} name
 * @property {number} bytes of its file
 * @property {string} sha256 of its file
 * @property {Record<string, string>} label by language
 * @property {Record<string, string>} placeholder by language, what may be typed
 * @property {{text: string, hint: Record<string, string>}[]} examples the first is opened
 * @property {number} pad with which it opens
 * @property {string[]} symbols what it reads; empty where it reads sentences
 * @property {number} longest tokens of a text of its training, its end not counted
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
export function openingRequest({ name, examples, pad }) {
  return { model: name, text: examples[0].text, pad, forced: [] };
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
