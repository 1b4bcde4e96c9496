import { readEnvelope } from "./envelope.js";

/** @import { SHOWN_MAPS } from "./look.js" */
/** @import { SiteName } from "./trace.js" */

/**
 * @typedef {typeof SHOWN_MAPS[number]} Method by which contributions are computed
 * @typedef {number | Method} HeadOrMethod what is shown of a layer: a head, MEAN of them, or what its
 *   keys contribute
 * @typedef {"all" | "through" | "whole"} Reach of a number: one attention with all its heads, all
 *   layers up to one, or the whole model
 *
 * @typedef {object} Contributions what keys contribute to queries, in the format of
 *   `player/contributions.py`; empty until it is asked for
 * @property {(method: HeadOrMethod) => boolean} loaded
 * @property {(method: Method, bytes: Uint8Array) => void} add
 * @property {(method: Method, site: SiteName, layer: number, area: number) => Uint16Array} codes of
 *   one layer, as those of weights; area: its cells
 * @property {(method: Method) => Float32Array} sourceShare by row, 0..1: the part of the source in
 *   what it predicts
 * @property {(site: SiteName, cell: number) => number} drop of ln p (nats) without the key of a cell,
 *   by leave-one-out
 * @property {() => [string, number][]} agreement by method, in how many rows it has the same largest
 *   source token as leave-one-out, once that is loaded; of pieces
 * @property {Contributions | null} words the same of the trace in words
 */

/** @type {Partial<Record<Method, Reach>>} */
const REACHES = { alti_plus: "through", rollout: "through", leave_one_out: "whole" };

/**
 * @param {Method} method
 * @returns {Reach}
 */
export function reachOf(method) {
  return REACHES[method] ?? "all";
}

/**
 * @param {Contributions | null} [words]
 * @returns {Contributions}
 */
export function createContributions(words = null) {
  /** @type {Map<HeadOrMethod, ReturnType<typeof readEnvelope<{agreement?: [string, number][]}>>>} */
  const envelopes = new Map();
  /** @param {Method} method @param {string} name */
  const found = (method, name) => {
    const values = envelopes.get(method)?.array(name);
    if (!values) throw new Error(`no contributions: ${method} ${name}`);
    return values;
  };
  return {
    loaded: (method) => envelopes.has(method),
    add: (method, bytes) => {
      /** @type {ReturnType<typeof readEnvelope<{agreement?: [string, number][]}>>} */
      const envelope = readEnvelope(bytes);
      const merged = envelope.array("words");
      if (merged) words?.add(method, /** @type {Uint8Array} */ (merged));
      envelopes.set(method, envelope);
    },
    codes: (method, site, layer, area) =>
      /** @type {Uint16Array} */ (found(method, site)).subarray(layer * area, (layer + 1) * area),
    sourceShare: (method) => /** @type {Float32Array} */ (found(method, "source_share")),
    drop: (site, cell) => found("leave_one_out", `${site}.drop`)[cell],
    agreement: () => envelopes.get("leave_one_out")?.header.agreement ?? [],
    words,
  };
}
