import { readEnvelope } from "../../shared/js/envelope.js";

/** @import { SiteName } from "../../shared/js/trace.js" */

/**
 * @typedef {object} HeadParts of one attention at one step, in nats
 * @property {SiteName} site
 * @property {number} heads of a layer
 * @property {Float32Array} values layer by layer
 * @property {number} total
 *
 * @typedef {"embedding" | "feed_forward" | "bias"} Other
 *
 * @typedef {object} StepParts what makes the model choose the token of one step and not the
 *   runner-up, in nats: all parts sum to the difference of their log probabilities
 * @property {string} runnerUp
 * @property {number} difference
 * @property {HeadParts[]} attentions
 * @property {{name: Other, value: number}[]} others
 * @property {number} heads sum over all heads
 * @property {number} rest sum over the others
 *
 * @typedef {object} Attribution
 * @property {(row: number) => StepParts} of row: of the trace in pieces
 * @property {number} largestHead the largest part of a head at any step, without its sign
 * @property {number} largest the largest of all numbers but the parts of single heads
 */

const SITES = /** @type {const} */ (["decoder", "cross"]);
const OTHERS = /** @type {const} */ (["feed_forward", "embedding", "bias"]);

/**
 * The parts of heads in the choice of each token, in the format of `player/contributions.py`.
 * @param {Uint8Array} bytes
 * @returns {Attribution}
 */
export function readAttribution(bytes) {
  const { header, array } =
    /** @type {ReturnType<typeof readEnvelope<{runner_up: string[], heads: Record<string, [number, number]>}>>} */ (
      readEnvelope(bytes)
    );
  /** @param {string} name */
  const numbers = (name) => {
    const found = array(name);
    if (!found) throw new Error(`no parts: ${name}`);
    return /** @type {Float32Array} */ (found);
  };
  const sites = SITES.filter((site) => header.heads[site]);
  /** @param {SiteName} site @param {number} row @returns {HeadParts} */
  const attention = (site, row) => {
    const [layers, heads] = header.heads[site];
    const values = numbers(site).subarray(row * layers * heads, (row + 1) * layers * heads);
    return { site, heads, values, total: sumOf(values) };
  };
  /** @type {Attribution["of"]} */
  const of = (row) => {
    const attentions = sites.map((site) => attention(site, row));
    const others = OTHERS.map((name) => ({ name, value: numbers(name)[row] }));
    return {
      runnerUp: header.runner_up[row],
      difference: numbers("difference")[row],
      attentions,
      others,
      heads: sumOf(attentions.map(({ total }) => total)),
      rest: sumOf(others.map(({ value }) => value)),
    };
  };
  const steps = header.runner_up.map((_, row) => of(row));
  const groups = steps.flatMap(({ attentions, others, difference }) => [
    difference,
    ...attentions.map(({ total }) => total),
    ...others.map(({ value }) => value),
  ]);
  return {
    of: (row) => steps[row],
    largestHead: largestOf(sites.flatMap((site) => [...numbers(site)])),
    largest: largestOf(groups),
  };
}

/** @param {ArrayLike<number>} numbers */
function sumOf(numbers) {
  return Array.from(numbers).reduce((sum, number) => sum + number, 0);
}

/** @param {number[]} numbers */
function largestOf(numbers) {
  return numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
}
