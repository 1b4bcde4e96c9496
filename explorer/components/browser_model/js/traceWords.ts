/**
 * A trace of pieces with the words that they spell in place of them, as `merge` of
 * `explorer/core/words.py` makes it: weights summed over the pieces of a key, averaged over those of
 * a query; a cell is masked where all cells of its pieces are.
 */

import { LATER, PADDING, UNMASKED } from "../../trace/js/look.ts";
import { type CapturedArray, type CapturedArrays, type Site, sitesOf } from "./attentionCapture.ts";
import type { ModelTrace } from "./explorableModel.ts";
import { grouped, marksWords, type Word } from "./wordSegmentation.ts";

const REASONS: number[] = [UNMASKED, PADDING, LATER]; // the first that any piece has; else "edited"

/**
 * The words of a trace, and the word that follows each word fed in. The last prediction was not fed
 * in, but it may continue the last word; so it is grouped with the tokens fed in.
 */
export function wordsOf({ sourceTokens, targetTokens, predictedTokens }: ModelTrace) {
  const marked = marksWords([...sourceTokens, ...targetTokens, ...predictedTokens]);
  const source = grouped(sourceTokens, marked);
  const fed = targetTokens.length;
  const target = grouped([...targetTokens, ...predictedTokens.slice(-1)], marked);
  const predicted = target.slice(1).map(({ label }) => label);
  const last = target[target.length - 1];
  if (last.start === fed) return { source, target: target.slice(0, -1), predicted };
  const spelled = (tokens: string[]) =>
    grouped(tokens, marked)
      .map(({ label }) => label)
      .join("");
  const cut = { label: spelled(targetTokens.slice(last.start)), start: last.start, stop: fed };
  const next = spelled(predictedTokens.slice(-1));
  return { source, target: [...target.slice(0, -1), cut], predicted: [...predicted, next] };
}

/**
 * `trace` in words; null where every word is one piece, without a mark.
 * @returns rows and columns: the
 *   position of the last piece of each word fed in and of the source; prompt: words that begin in it
 */
export function mergedTrace(
  trace: ModelTrace,
): { trace: ModelTrace; rows: number[]; columns: number[]; prompt: number } | null {
  const { source, target, predicted } = wordsOf(trace);
  const isPiece = (tokens: string[]) => (word: Word) =>
    word.stop - word.start === 1 && word.label === tokens[word.start];
  if (source.every(isPiece(trace.sourceTokens)) && target.every(isPiece(trace.targetTokens)))
    return null;
  const axes: Record<Site, [Word[], Word[]]> = {
    encoder: [source, source],
    decoder: [target, target],
    cross: [target, source],
  };
  const arrays: CapturedArrays = {};
  for (const site of sitesOf(trace.facts.config)) {
    const [queries, keys] = axes[site];
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
  const ends = (words: Word[]) => words.map(({ stop }) => stop - 1);
  const { prompt = 0 } = trace.facts;
  const begun = target.filter(({ start }) => start < prompt).length;
  return { trace: merged, rows: ends(target), columns: ends(source), prompt: begun };
}

/** (layer, head, query, key) of pieces → of words. */
function mergedWeights(
  { values, shape: [layers, heads, rows, columns] }: CapturedArray,
  queries: Word[],
  keys: Word[],
): CapturedArray {
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

/** Codes of reasons (…, query, key) of pieces → of words. */
function mergedCodes(
  { values, shape }: CapturedArray,
  queries: Word[],
  keys: Word[],
): CapturedArray {
  const [rows, columns] = shape.slice(-2);
  const merged: number[] = [];
  for (let start = 0; start < values.length; start += rows * columns) {
    const codes = values.subarray(start, start + rows * columns);
    for (const query of queries) {
      for (const key of keys) {
        const found = new Set([...cellsOf(query, key, columns)].map((cell) => codes[cell]));
        const first = codes[query.start * columns + key.start];
        merged.push(REASONS.find((reason) => found.has(reason)) ?? first);
      }
    }
  }
  const size = [queries.length, keys.length];
  return { values: Uint8Array.from(merged), shape: [...shape.slice(0, -2), ...size] };
}

/** The gold alignment (T, S) of pieces → of words: that of any of their pieces. */
function mergedGold(
  { values, shape: [, columns] }: CapturedArray,
  target: Word[],
  source: Word[],
): CapturedArray {
  const merged = target.flatMap((query) =>
    source.map((key) => Number([...cellsOf(query, key, columns)].some((cell) => values[cell]))),
  );
  return { values: Uint8Array.from(merged), shape: [target.length, source.length] };
}

/** The cells of the pieces of two words in a matrix of `columns`. */
function* cellsOf(query: Word, key: Word, columns: number) {
  for (let row = query.start; row < query.stop; row++) {
    for (let column = key.start; column < key.stop; column++) yield row * columns + column;
  }
}
