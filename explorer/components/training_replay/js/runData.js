/** @import { Strings } from "../../shared/js/sentences.js" */

/**
 * @typedef {object} Curves the numbers of a moment that are drawn as curves; null leaves a gap
 * @property {number} step
 * @property {number | null} loss on training data; of older runs, mean over the batches since the last moment
 * @property {number | null} held_out loss on held-out data, in the same unit
 * @property {number | null} exact
 * @property {number | null} [bleu]
 * @property {number | null} [chrf]
 * @property {number | null} [perplexity]
 *
 * @typedef {Curves & {
 *   gold: (number | null)[][],
 *   rate: number | null,
 *   norm: number | null,
 *   norms: Record<string, number | null>,
 *   speed: number | null,
 *   memory: number | null,
 *   greedy: string,
 *   written: string[],
 *   probe: string | null,
 * }} Moment one evaluation during a training; `gold`: gold weight by layer and head, `probe`: address of its trace
 *
 * @typedef {Curves & {gold: number | null}} ComparedMoment `gold`: of the best head
 *
 * @typedef {object} RunReport
 * @property {string} state
 * @property {boolean} going whether the run may still change
 * @property {number} share 0..1
 * @property {string} words
 * @property {string[]} facts
 * @property {string} problem
 *
 * @typedef {object} RunSettings the settings of a run as text; "" for nothing to say
 * @property {string[]} badges
 * @property {string} demo
 *
 * @typedef {object} ComparisonRow what sets a run apart from those beside it, and what it reached
 * @property {string} name
 * @property {string} settings
 * @property {number | null} mastered first step with 99 % exact match
 * @property {number | null} best_loss lowest held-out loss
 * @property {number | null} best_step
 * @property {number | null} bleu the highest
 *
 * @typedef {object} RunData a training run, as `training_replay/payload.py` describes it
 * @property {string} key
 * @property {string} name
 * @property {string} language
 * @property {Strings} strings
 * @property {Strings} player
 * @property {string} project name and version of the project
 * @property {number} steps
 * @property {number} every steps between two moments
 * @property {string} task
 * @property {boolean} translates
 * @property {boolean} causal whether the decoder has its causal mask
 * @property {boolean} batch_loss whether the training loss is that of the batches, dropout included
 * @property {number | null} chance gold weight of a head that looks everywhere alike
 * @property {{source: string, reference: string}[]} samples
 * @property {Moment[]} moments
 * @property {number | null} best step of the lowest held-out loss
 * @property {{name: string, moments: ComparedMoment[]}[]} others compared runs
 * @property {ComparisonRow[]} rows of this run and the compared ones; none without compared ones
 * @property {RunReport} report
 * @property {RunSettings} settings
 * @property {boolean} opens whether there is a model that Explore can open
 * @property {{address: string, label: string}} link to where the leak without a causal mask is seen; no address: no link
 * @property {string[]} log
 * @property {{run: string, others: string[]}} [shared] names of this run and the compared ones, on the
 *   page of the host of a class
 */

/**
 * @param {Uint8Array} bytes
 * @returns {RunData}
 */
export function readRunData(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * The head with the largest gold weight at a moment; null where no gold weight is known.
 * @param {Moment | undefined} moment
 */
export function sharpestHead(moment) {
  const gold = moment?.gold ?? [];
  const heads = gold.flatMap((weights, layer) =>
    weights.map((weight, head) => ({ layer, head, weight: weight ?? -1 })),
  );
  const best = heads.reduce((one, other) => (other.weight > one.weight ? other : one), {
    layer: 0,
    head: 0,
    weight: -1,
  });
  return best.weight < 0 ? null : { layer: best.layer, head: best.head };
}

/**
 * The index of the moment nearest to `step`; −1 without moments.
 * @param {{step: number}[]} moments
 * @param {number} step
 */
export function nearestMoment(moments, step) {
  let best = -1;
  moments.forEach((moment, index) => {
    if (best < 0 || Math.abs(moment.step - step) < Math.abs(moments[best].step - step))
      best = index;
  });
  return best;
}
