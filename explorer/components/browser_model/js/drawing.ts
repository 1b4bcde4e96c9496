/** Draw the next token at random, in the same way as `explorer/model/drawing.py`. */

import type { Drawing } from "../../trace/js/drawing.ts";

const INCREMENT = 0x6d2b79f5; // the generator is mulberry32; its state counts in these

/**
 * The index that is drawn at a step from softmax(logits / temperature); of equal seed, step and logits
 * it is the same.
 */
export function draw(drawing: Drawing, logits: Float32Array, step: number) {
  const { temperature, seed } = drawing;
  let largest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) largest = Math.max(largest, logit);
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - largest) / temperature));
  restrict(weights, drawing);
  let total = 0;
  for (const weight of weights) total += weight;
  const place = randomShare(seed, step) * total;
  let end = 0;
  let last = 0; // that can be drawn at all
  for (let index = 0; index < weights.length; index++) {
    end += weights[index];
    if (weights[index] > 0) last = index;
    if (place < end) return index;
  }
  return last;
}

/**
 * Sets the weights to 0 that top-k and, after it, top-p leave out. Of equal ones those of lower index
 * come first. At least one stays.
 */
function restrict(weights: Float64Array, { k, p }: Drawing) {
  if (k === undefined && p === undefined) return;
  const ranked = [...weights.keys()].sort((a, b) => weights[b] - weights[a] || a - b);
  const best = ranked.slice(0, k);
  let kept = best.length;
  if (p !== undefined) {
    const sums: number[] = [];
    for (const index of best) sums.push((sums.at(-1) ?? 0) + weights[index]);
    const most = p * (sums.at(-1) ?? 0);
    kept = best.findIndex((index, rank) => sums[rank] - weights[index] >= most);
    if (kept < 0) kept = best.length;
  }
  for (const index of ranked.slice(kept)) weights[index] = 0;
}

/** A number from 0, less than 1, which looks random. */
export function randomShare(seed: number, step: number) {
  const state = (seed + step * INCREMENT) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
