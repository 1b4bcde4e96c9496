/** Decoding step by step with a key/value cache, greedily or with drawn tokens. */

import type { Drawing } from "../../trace/js/drawing.ts";
import { draw } from "./drawing.ts";
import type { Mask } from "./masks.ts";
import type { Transformer } from "./transformer.ts";
import { BOS, EOS } from "./vocabulary.ts";

/** The most tokens that a decoder alone writes after a prompt. */
export const AFTER_PROMPT = 32;

/** Step (1, 2, …) → the id its token must have. */
export type Forced = Readonly<Record<number, number>>;

/**
 * Decode at most `limit` tokens from `memory` (S, D): logits (V) and token of each step, the forced
 * one, else the most probable or a drawn one; padding and the beginning of a sequence are never chosen.
 * It ends after the end of the sequence.
 */
export function* decodingSteps(
  model: Transformer,
  memory: Float32Array,
  memoryMask: Mask,
  { limit, forced, drawing }: { limit: number; forced: Forced; drawing?: Drawing },
) {
  const cache = model.start(memory, memoryMask);
  let token = BOS;
  for (let step = 1; step <= limit; step++) {
    const logits = model.step(token, cache);
    token = forced[step] ?? (drawing ? drawn(drawing, logits, step) : mostProbable(logits));
    yield { logits, token };
    if (token === EOS) return;
  }
}

function drawn(drawing: Drawing, logits: Float32Array, step: number) {
  return EOS + draw(drawing, logits.subarray(EOS), step);
}

/** @param logits (V) */
function mostProbable(logits: Float32Array) {
  let best = EOS;
  for (let token = EOS + 1; token < logits.length; token++) {
    if (logits[token] > logits[best]) best = token;
  }
  return best;
}
