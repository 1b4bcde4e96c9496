import { readEnvelope } from "./envelope.js";

/** @import { SiteName } from "./trace.js" */

/**
 * @typedef {object} Contributions what keys contribute to queries, in the format of
 *   `player/contributions.py`; empty until it is asked for
 * @property {() => boolean} loaded
 * @property {(bytes: Uint8Array) => void} add
 * @property {(site: SiteName, layer: number, area: number) => Uint16Array} codes of one layer, as
 *   those of weights; area: its cells
 * @property {() => Float32Array} sourceShare by row, 0..1: the part of the source in what it predicts
 * @property {Contributions | null} words the same of the trace in words
 */

/**
 * @param {Contributions | null} [words]
 * @returns {Contributions}
 */
export function createContributions(words = null) {
  /** @type {ReturnType<typeof readEnvelope>["array"] | null} */
  let array = null;
  /** @param {string} name */
  const found = (name) => {
    const values = array?.(name);
    if (!values) throw new Error(`no contributions: ${name}`);
    return values;
  };
  return {
    loaded: () => array !== null,
    add: (bytes) => {
      const envelope = readEnvelope(bytes);
      const merged = envelope.array("words");
      if (merged) words?.add(/** @type {Uint8Array} */ (merged));
      array = envelope.array;
    },
    codes: (site, layer, area) =>
      /** @type {Uint16Array} */ (found(site)).subarray(layer * area, (layer + 1) * area),
    sourceShare: () => /** @type {Float32Array} */ (found("source_share")),
    words,
  };
}
