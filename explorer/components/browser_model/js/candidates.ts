/** The candidates of each step, as `explorer/model/row_logits.py` lists them. */

import { softmax } from "./matrices.ts";
import { EOS } from "./vocabulary.ts";

export type Candidate = {
  step: number;
  rank: number;
  id: number;
  probability: number;
  chosen: boolean;
  forced: boolean;
};

export const CANDIDATES = 10; // the most probable tokens of a step, beside the one that follows

/**
 * Those of all steps, the most probable first; padding and the beginning never follow.
 * @param logits (T, V) that each token was chosen from
 * @param chosen ids
 * @param forced steps, from 1
 */
export function stepCandidates(
  logits: Float32Array,
  chosen: readonly number[],
  forced: ReadonlySet<number>,
): Candidate[] {
  const size = logits.length / chosen.length;
  return chosen.flatMap((own, row) => {
    const probabilities = probabilitiesOf(logits.subarray(row * size, (row + 1) * size));
    const best = mostProbable(probabilities, CANDIDATES);
    const listed = best.includes(own) ? best : [...best, own];
    return listed.map((id, index) => ({
      step: row + 1,
      rank: index < best.length ? index + 1 : rankOf(own, probabilities),
      id,
      probability: probabilities[id],
      chosen: id === own,
      forced: id === own && forced.has(row + 1),
    }));
  });
}

/** The softmax of logits (V). */
export function probabilitiesOf(logits: Float32Array) {
  const probabilities = Float64Array.from(logits);
  softmax(probabilities, 0, probabilities.length);
  return Float32Array.from(probabilities);
}

/**
 * The ids of the `count` largest probabilities, from the end of the sequence on, the largest first.
 */
export function mostProbable(probabilities: Float32Array, count: number) {
  const best: number[] = [];
  for (let id = EOS; id < probabilities.length; id++) {
    const last = best[best.length - 1];
    if (best.length === count && probabilities[id] <= probabilities[last]) continue;
    let place = best.length;
    while (place > 0 && probabilities[best[place - 1]] < probabilities[id]) place--;
    best.splice(place, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}

function rankOf(own: number, probabilities: Float32Array) {
  let rank = 1;
  for (let id = EOS; id < probabilities.length; id++) {
    if (probabilities[id] > probabilities[own]) rank++;
  }
  return rank;
}
