/**
 * A trace of pieces with the words that they spell in place of them, as `merge` of
 * `explorer/core/words.py` makes it: weights summed over the pieces of a key, averaged over those of
 * a query; a cell is masked where all cells of its pieces are.
 *
 * @import { CapturedArray, CapturedArrays, Site } from "./attentionCapture.js"
 * @import { ModelTrace } from "./explorableModel.js"
 * @import { Word } from "./wordSegmentation.js"
 */

import { LATER, PADDING, UNMASKED } from "../../shared/js/look.js";
import { grouped, marksWords } from "./wordSegmentation.js";

/** @type {number[]} */
const REASONS = [UNMASKED, PADDING, LATER]; // the first that any piece has; else "edited"

/**
 * The words of a trace, and the word that follows each word fed in. The last prediction was not fed
 * in, but it may continue the last word; so it is grouped with the tokens fed in.
 * @param {ModelTrace} trace
 */
export function wordsOf({ sourceTokens, targetTokens, predictedTokens }) {
  const marked = marksWords([...sourceTokens, ...targetTokens, ...predictedTokens]);
  const source = grouped(sourceTokens, marked);
  const fed = targetTokens.length;
  const target = grouped([...targetTokens, ...predictedTokens.slice(-1)], marked);
  const predicted = target.slice(1).map(({ label }) => label);
  const last = target[target.length - 1];
  if (last.start === fed) return { source, target: target.slice(0, -1), predicted };
  const spelled = (/** @type {string[]} */ tokens) =>
    grouped(tokens, marked)
      .map(({ label }) => label)
      .join("");
  const cut = { label: spelled(targetTokens.slice(last.start)), start: last.start, stop: fed };
  const next = spelled(predictedTokens.slice(-1));
  return { source, target: [...target.slice(0, -1), cut], predicted: [...predicted, next] };
}

/**
 * `trace` in words; null where every word is one piece.
 * @param {ModelTrace} trace
 * @returns {{trace: ModelTrace, rows: number[], columns: number[]} | null} rows and columns: the
 *   position of the last piece of each word fed in and of the source
 */
export function mergedTrace(trace) {
  const { source, target, predicted } = wordsOf(trace);
  if ([...source, ...target].every(({ start, stop }) => stop - start === 1)) return null;
  /** @type {Record<Site, [Word[], Word[]]>} */
  const axes = { encoder: [source, source], decoder: [target, target], cross: [target, source] };
  /** @type {CapturedArrays} */
  const arrays = {};
  for (const [site, [queries, keys]] of Object.entries(axes)) {
    arrays[`${site}.attention`] = mergedWeights(trace.arrays[`${site}.attention`], queries, keys);
    arrays[`${site}.closed`] = mergedCodes(trace.arrays[`${site}.closed`], queries, keys);
  }
  if (trace.arrays.gold) arrays.gold = mergedGold(trace.arrays.gold, target, source);
  const steps = new Map(target.map(({ stop }, index) => [stop, index + 1]));
  const merged = {
    ...trace,
    sourceTokens: source.map(({ label }) => label),
    targetTokens: target.map(({ label }) => label),
    predictedTokens: predicted,
    arrays,
    candidates: trace.candidates.flatMap((candidate) => {
      const step = steps.get(candidate.step);
      return step ? [{ ...candidate, step }] : [];
    }),
    facts: { ...trace.facts, unit: "words" },
  };
  const ends = (/** @type {Word[]} */ words) => words.map(({ stop }) => stop - 1);
  return { trace: merged, rows: ends(target), columns: ends(source) };
}

/**
 * (layer, head, query, key) of pieces → of words.
 * @param {CapturedArray} weights
 * @param {Word[]} queries
 * @param {Word[]} keys
 * @returns {CapturedArray}
 */
function mergedWeights({ values, shape: [layers, heads, rows, columns] }, queries, keys) {
  const shape = [layers, heads, queries.length, keys.length];
  const merged = new Float32Array(layers * heads * queries.length * keys.length);
  let place = 0;
  for (let start = 0; start < values.length; start += rows * columns) {
    for (const query of queries) {
      for (const key of keys) {
        let sum = 0;
        for (const cell of cellsOf(query, key, columns)) sum += values[start + cell];
        merged[place++] = sum / (query.stop - query.start);
      }
    }
  }
  return { values: merged, shape };
}

/**
 * Codes of reasons (query, key) of pieces → of words.
 * @param {CapturedArray} codes
 * @param {Word[]} queries
 * @param {Word[]} keys
 * @returns {CapturedArray}
 */
function mergedCodes({ values, shape: [, columns] }, queries, keys) {
  const merged = queries.flatMap((query) =>
    keys.map((key) => {
      const found = new Set([...cellsOf(query, key, columns)].map((cell) => values[cell]));
      return (
        REASONS.find((reason) => found.has(reason)) ?? values[query.start * columns + key.start]
      );
    }),
  );
  return { values: Uint8Array.from(merged), shape: [queries.length, keys.length] };
}

/**
 * The gold alignment (T, S) of pieces → of words: that of any of their pieces.
 * @param {CapturedArray} gold
 * @param {Word[]} target
 * @param {Word[]} source
 * @returns {CapturedArray}
 */
function mergedGold({ values, shape: [, columns] }, target, source) {
  const merged = target.flatMap((query) =>
    source.map((key) => Number([...cellsOf(query, key, columns)].some((cell) => values[cell]))),
  );
  return { values: Uint8Array.from(merged), shape: [target.length, source.length] };
}

/**
 * The cells of the pieces of two words in a matrix of `columns`.
 * @param {Word} query
 * @param {Word} key
 * @param {number} columns
 */
function* cellsOf(query, key, columns) {
  for (let row = query.start; row < query.stop; row++) {
    for (let column = key.start; column < key.stop; column++) yield row * columns + column;
  }
}
