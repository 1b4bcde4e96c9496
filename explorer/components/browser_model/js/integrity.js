/**
 * The integrity checks of a trace, as `Trace.integrity` in `explorer/core/trace.py` makes them: what
 * only the model can measure, and what is measured on the arrays as they are now.
 *
 * @import { ModelTrace } from "./explorableModel.js"
 * @typedef {{check: string, error: number, limit: number, ok: boolean, expected: boolean}} Check
 */

import { UNMASKED } from "./masks.js";
import { sha256 } from "./sha256.js";

/** @type {[string, number][]} the largest error of a genuine trace in float32, by check */
const LIMITS = [
  ["rows_sum_to_one", 1e-5],
  ["closed_cells_are_zero", 0],
  ["hooked_equals_plain", 1e-4],
  ["cached_equals_full", 1e-4],
  ["padding_changes_nothing", 1e-4],
  ["unchanged_since_capture", 0],
];
const SITES = ["encoder", "decoder", "cross"];

/**
 * @param {ModelTrace} trace
 * @returns {Check[]}
 */
export function integrityOf(trace) {
  /** @type {Record<string, number>} */
  const errors = {
    ...trace.measured,
    ...measuredNow(trace),
    unchanged_since_capture: Number(digestOf(trace) !== trace.digest),
  };
  // A query that attends to later positions cannot be decoded step by step.
  const unavoidable = trace.facts.config.causal ? "" : "cached_equals_full";
  return LIMITS.filter(([check]) => check in errors).map(([check, limit]) => {
    const expected = check === unavoidable;
    return { check, error: errors[check], limit, ok: errors[check] <= limit || expected, expected };
  });
}

/**
 * SHA-256 of the tokens, weights, masks and candidates of a trace.
 * @param {Omit<ModelTrace, "digest">} trace
 */
export function digestOf({ sourceTokens, targetTokens, predictedTokens, text, arrays, ...rest }) {
  const { candidates, facts, measured } = rest;
  const tokens = [sourceTokens, targetTokens, predictedTokens, text, candidates, facts, measured];
  /** @type {Uint8Array[]} */
  const parts = [new TextEncoder().encode(JSON.stringify(tokens))];
  for (const [name, { values, shape }] of Object.entries(arrays)) {
    parts.push(new TextEncoder().encode(`${name} ${shape}`));
    parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  return sha256(joined(parts));
}

/**
 * The largest distance of a row's sum from 1, and the largest weight of a masked cell.
 * @param {ModelTrace} trace
 */
function measuredNow({ arrays }) {
  let [rows, masked] = [0, 0];
  for (const site of SITES) {
    const closed = arrays[`${site}.closed`].values;
    const { values, shape } = arrays[`${site}.attention`];
    const keys = shape[3];
    for (let start = 0; start < values.length; start += keys) {
      let sum = 0;
      for (let key = start; key < start + keys; key++) {
        sum += values[key];
        if (closed[key % closed.length] !== UNMASKED) masked = Math.max(masked, values[key]);
      }
      rows = Math.max(rows, Math.abs(sum - 1));
    }
  }
  return { rows_sum_to_one: rows, closed_cells_are_zero: masked };
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    bytes.set(part, start);
    start += part.length;
  }
  return bytes;
}
