/**
 * Greedy decoding step by step with a key/value cache.
 *
 * @import { Mask } from "./masks.js"
 * @import { Transformer } from "./transformer.js"
 * @typedef {Readonly<Record<number, number>>} Forced step (1, 2, …) → the id its token must have
 */

import { BOS, EOS } from "./vocabulary.js";

/**
 * Decode at most `limit` tokens from `memory` (S, D): logits (V) and token of each step, the forced
 * or the most probable one; padding and the beginning of a sequence are never chosen. It ends after
 * the end of the sequence.
 * @param {Transformer} model
 * @param {Float32Array} memory
 * @param {Mask} memoryMask
 * @param {number} limit
 * @param {Forced} forced
 */
export function* greedySteps(model, memory, memoryMask, limit, forced) {
  const cache = model.start(memory, memoryMask);
  let token = BOS;
  for (let step = 1; step <= limit; step++) {
    const logits = model.step(token, cache);
    token = forced[step] ?? mostProbable(logits);
    yield { logits, token };
    if (token === EOS) return;
  }
}

/** @param {Float32Array} logits (V) */
function mostProbable(logits) {
  let best = EOS;
  for (let token = EOS + 1; token < logits.length; token++) {
    if (logits[token] > logits[best]) best = token;
  }
  return best;
}
