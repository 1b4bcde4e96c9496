/** Payloads and traces for the unit tests. */

import { packEnvelope } from "../../../explorer/components/page/js/envelope.ts";
import type { Site, Trace } from "../../../explorer/components/trace/js/trace.ts";

const TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};

/**
 * Pack a payload.
 * @param arrays type and numbers
 */
export function packPayload(
  header: object,
  arrays: Record<string, [keyof typeof TYPES, ArrayLike<number>]>,
) {
  const typed = Object.entries(arrays).map(([name, [type, numbers]]) => [
    name,
    TYPES[type].from(numbers),
  ]);
  return packEnvelope(header, Object.fromEntries(typed));
}

/** A header of a trace with one cross-attention of 2 rows and 3 keys, for `readTrace`. */
export const HEADER = {
  source: ["7", "3", "<eos>"],
  target: ["<bos>", "3"],
  predicted: ["3", "7"],
  content: { source: [true, true, false], outputs: [true, true] },
  sites: { cross: { shape: [1, 2, 2, 3], scale: 1, packed: false, removed: [] } },
  labels: ["3", "7"],
  facts: {},
};

/** Weight codes of its two heads: the first aligns rows 0, 1 with keys 1, 0. */
export const CODES = [
  [0, 65535, 0, 65535, 0, 0],
  [21845, 21845, 21845, 0, 0, 65535],
].flat();

/** A site whose heads have these codes. */
export function siteOfCodes(heads: number[][], keys: number, more: Partial<Site> = {}): Site {
  const queries = heads[0].length / keys;
  const masked = new Uint8Array(queries * keys);
  return {
    name: "cross",
    layers: 1,
    numbers: [0],
    heads: heads.length,
    queries,
    keys,
    scale: 1,
    queryTokens: Array.from({ length: queries }, (_, query) => `q${query}`),
    keyTokens: Array.from({ length: keys }, (_, key) => `k${key}`),
    weights: (_, head) => Uint16Array.from(heads[Number(head)]),
    masked: () => masked,
    removed: () => null,
    has: () => true,
    picture: (_, head) => ({ queries, keys, weights: Uint16Array.from(heads[head]), masked }),
    nameOf: () => "",
    reasons: [],
    gold: null,
    drop: () => 0,
    ...more,
  };
}

/** A trace with some properties. */
export function traceWith(properties: Partial<Trace>) {
  return {
    rows: null,
    columns: null,
    words: null,
    heads: null,
    gold: null,
    prompt: 0,
    masks: [],
    fillings: [],
    sites: {},
    predicting: null,
    ...properties,
  } as Trace;
}
