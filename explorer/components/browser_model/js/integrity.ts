/**
 * The integrity checks of a trace, as `Trace.integrity` in `explorer/core/trace.py` makes them: what
 * only the model can measure, and what is measured on the arrays as they are now.
 */

import { linesIn } from "../../trace/js/interventions.ts";
import { UNMASKED } from "../../trace/js/look.ts";
import { sitesOf } from "./attentionCapture.ts";
import type { ExplorableModel, ModelTrace } from "./explorableModel.ts";
import { expectedErrors, interventionsOf } from "./interventions.ts";

export type Check = { check: string; error: number; limit: number; ok: boolean; expected: boolean };

/** The largest error of a genuine trace in float32, by check. */
const LIMITS: [string, number][] = [
  ["rows_sum_to_one", 1e-5],
  ["masked_cells_are_zero", 0],
  ["hooked_equals_plain", 1e-4],
  ["cached_equals_full", 1e-4],
  ["padding_changes_nothing", 1e-4],
  ["unchanged_since_capture", 0],
];
const [OFFSET, PRIME] = [2166136261, 16777619]; // of FNV-1a with 32 bits

/** The checks of a trace that `model` made, by passes that the trace itself does without. */
export function integrityOf(model: ExplorableModel, trace: ModelTrace): Check[] {
  const errors: Record<string, number> = {
    ...model.measured(trace),
    ...measuredNow(trace),
    unchanged_since_capture: Number(digestOf(trace) !== trace.digest),
  };
  const interventions = interventionsOf(linesIn(trace.facts));
  const unavoidable = expectedErrors(interventions, trace.facts.config.causal);
  return LIMITS.filter(([check]) => check in errors).map(([check, limit]) => {
    const expected = unavoidable.includes(check);
    return { check, error: errors[check], limit, ok: errors[check] <= limit || expected, expected };
  });
}

/**
 * A checksum of the tokens, weights, masks and candidates of a trace, 32 bits: FNV-1a (Fowler, Noll
 * and Vo) over whole numbers instead of bytes, so that a single one that changes always shows.
 */
export function digestOf({
  sourceTokens,
  targetTokens,
  predictedTokens,
  text,
  arrays,
  ...rest
}: Omit<ModelTrace, "digest">) {
  const { candidates, facts } = rest;
  const shapes = Object.entries(arrays).map(([name, { shape }]) => [name, shape]);
  const told = [sourceTokens, targetTokens, predictedTokens, text, candidates, facts, shapes];
  let digest = checksum(new TextEncoder().encode(JSON.stringify(told)), OFFSET);
  for (const { values } of Object.values(arrays)) {
    const { buffer, byteOffset, length } = values;
    const numbers =
      values instanceof Uint8Array ? values : new Uint32Array(buffer, byteOffset, length);
    digest = checksum(numbers, digest);
  }
  return digest;
}

/** @param digest of what comes before */
function checksum(numbers: Uint8Array | Uint32Array, digest: number) {
  for (const number of numbers) digest = Math.imul(digest ^ number, PRIME);
  return digest;
}

/** The largest distance of a row's sum from 1, and the largest weight of a masked cell. */
function measuredNow({ arrays, facts }: ModelTrace) {
  let [rows, masked] = [0, 0];
  for (const site of sitesOf(facts.config)) {
    const maskCodes = arrays[`${site}.closed`].values;
    const { values, shape } = arrays[`${site}.attention`];
    const keys = shape[3];
    for (let start = 0; start < values.length; start += keys) {
      let sum = 0;
      for (let key = start; key < start + keys; key++) {
        sum += values[key];
        if (maskCodes[key % maskCodes.length] !== UNMASKED) masked = Math.max(masked, values[key]);
      }
      rows = Math.max(rows, Math.abs(sum - 1));
    }
  }
  return { rows_sum_to_one: rows, masked_cells_are_zero: masked };
}
