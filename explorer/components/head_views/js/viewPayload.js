import { readEnvelope } from "../../shared/js/envelope.js";
import { readTrace } from "../../shared/js/trace.js";

/** @import { Strings } from "../../shared/js/sentences.js" */
/** @import { Site, SiteName, Trace } from "../../shared/js/trace.js" */

/**
 * @typedef {object} MeasuredHead what was measured of a head
 * @property {number} layer
 * @property {number} head
 * @property {Record<string, [number | null, number | null, number | null]>} metrics mean, low, high
 * @property {string[]} roles keys of groups of roles
 * @property {string} role_text
 * @property {string[]} role_lines with their scores
 *
 * @typedef {object} ViewHeader
 * @property {"head_grid" | "comparison" | "model_comparison" | "metric_matrix" | "words"} view
 * @property {string} language
 * @property {Strings} strings
 * @property {Strings} role_strings
 * @property {Strings} player_strings
 * @property {Partial<Record<SiteName, MeasuredHead[]>>} heads
 * @property {string[]} metrics
 * @property {boolean} [unmeasured] whether measurements stay elsewhere: nothing is said of them
 * @property {number} [sentences] on which they were measured
 * @property {number} [removed_on] sentences on which each head was removed
 * @property {string} [model] of which they were measured
 * @property {string} [batch] the name of the sentences
 * @property {string} [project] name and version of the project
 * @property {string[]} roles
 * @property {Partial<Record<SiteName, [string, string][]>>} role_groups keys and names
 * @property {string[]} [words] names of the sentences of the words to explain
 * @property {string} [label] of the button that explains them
 * @property {[string, string]} [names] of two models that are compared
 * @property {[string[], string[]]} [outputs] of the two, each by itself
 * @property {[number, number] | null} [pair] layer and head of the second that is shown first
 * @property {string} [given] the heading of the second where it is given the output of the first; "" where it is not
 * @property {"matched" | "same"} [rule] by which a head has one of the second beside it at first
 * @property {string} [about] what the caption of a figure says of them besides
 * @property {Partial<Record<SiteName, SimilarHeads>>} [similar]
 *
 * @typedef {object} SimilarHeads heads of two models in one attention
 * @property {[number[], number[]]} order heads of each, counted through the layers, like ones together
 * @property {[number, number, number, number][]} matched layer and head of both
 *
 * @typedef {object} HeadValues numbers of every head of a site that are no weights
 * @property {(layer: number, head: number) => Float32Array} of a head; below head 0, the mean of the layer
 * @property {number} largest magnitude
 * @property {{layer: number, head: number}} strongest head with the largest magnitude
 *
 * @typedef {object} ViewPayload
 * @property {ViewHeader} header
 * @property {(name: string) => Trace} trace
 * @property {(name: string, site: Site) => HeadValues | null} values
 * @property {(site: SiteName) => Float32Array | null} similarity of each head of the first model to
 *   each of the second
 * @property {(name: string) => boolean} hasValues whether it has such values for any site
 */

/**
 * Read the payload of a head view.
 * @param {Uint8Array} bytes
 * @returns {ViewPayload}
 */
export function readViewPayload(bytes) {
  const { header, array } = /** @type {ReturnType<typeof readEnvelope<ViewHeader>>} */ (
    readEnvelope(bytes)
  );
  return {
    header,
    trace: (name) => readTrace(/** @type {Uint8Array} */ (array(name))),
    values: (name, site) => {
      const numbers = /** @type {Float32Array | null} */ (array(`${name}.${site.name}`));
      return numbers && createHeadValues(numbers, site);
    },
    similarity: (site) => /** @type {Float32Array | null} */ (array(`similarity.${site}`)),
    hasValues: (name) => Object.keys(header.arrays).some((key) => key.startsWith(`${name}.`)),
  };
}

/**
 * A trace that is here already as the payload of the grid of all heads, without measurements.
 * @param {Trace} trace
 * @param {Strings} strings of the head views
 * @returns {ViewPayload}
 */
export function traceAsPayload(trace, strings) {
  const { language, strings: player_strings } = trace.header;
  return {
    header: {
      view: "head_grid",
      language,
      strings,
      role_strings: {},
      player_strings,
      heads: {},
      unmeasured: true,
      metrics: [],
      roles: [],
      role_groups: {},
    },
    trace: () => trace,
    values: () => null,
    similarity: () => null,
    hasValues: () => false,
  };
}

/**
 * @param {Float32Array} values of all heads
 * @param {Pick<Site, "heads" | "queries" | "keys">} site
 * @returns {HeadValues}
 */
export function createHeadValues(values, { heads, queries, keys }) {
  const area = queries * keys;
  let [largest, index] = [0, 0];
  values.forEach((value, cell) => {
    if (Math.abs(value) > largest) [largest, index] = [Math.abs(value), Math.floor(cell / area)];
  });
  const strongest = { layer: Math.floor(index / heads), head: index % heads };
  /** @type {(layer: number, head: number) => Float32Array} */
  const one = (layer, head) => {
    const start = (layer * heads + head) * area;
    return values.subarray(start, start + area);
  };
  /** @type {(layer: number, head: number) => Float32Array} */
  const of = (layer, head) => {
    if (head >= 0) return one(layer, head);
    const all = Array.from({ length: heads }, (_, position) => one(layer, position));
    return all[0].map((_, cell) => all.reduce((sum, own) => sum + own[cell], 0) / heads);
  };
  return { of, largest, strongest };
}
