import { FULL_WEIGHT } from "./trace.js";

/** @import { Shows } from "./initialState.js" */
/** @import { Site } from "./trace.js" */

/** @typedef {"linear" | "sqrt" | "row"} Scale "row": each row's largest weight has the full tone */

/** @type {Scale[]} */
export const SCALES = ["linear", "sqrt", "row"];
const LONG_ROW = 33; // keys

/**
 * The scale in use: the visitor's choice, else √ where a row has many keys to share its weight, and
 * for contributions, of which the query itself has most.
 * @param {{scale: Scale | null, shows?: Shows}} state
 * @param {Pick<Site, "keys" | "widest">} site
 * @returns {Scale}
 */
export function scaleOf(state, site) {
  const small = (state.shows ?? "weight") !== "weight" || (site.widest ?? site.keys) >= LONG_ROW;
  return state.scale ?? (small ? "sqrt" : "linear");
}

/**
 * Position of each weight on the colour ramp, 0..1.
 * @param {Uint16Array} weights codes of whole rows
 * @param {number} keys
 * @param {Scale} scale
 */
export function tones(weights, keys, scale) {
  const result = new Float32Array(weights.length);
  for (let start = 0; start < weights.length; start += keys) {
    let top = FULL_WEIGHT;
    if (scale === "row") {
      top = 1;
      for (let key = 0; key < keys; key += 1) top = Math.max(top, weights[start + key]);
    }
    for (let key = 0; key < keys; key += 1) {
      const share = weights[start + key] / top;
      result[start + key] = scale === "sqrt" ? Math.sqrt(share) : share;
    }
  }
  return result;
}

/**
 * The marks of the colour bar: [tone, text].
 * @param {Scale} scale
 * @param {number} largest weight of the largest code
 * @returns {[number, string][]}
 */
export function scaleMarks(scale, largest) {
  if (scale === "row") {
    return [
      [0, "0"],
      [0.5, "½"],
      [1, "max"],
    ];
  }
  const weights = scale === "sqrt" ? [0, 0.05, 0.25, 0.6, 1] : [0, 0.25, 0.5, 0.75, 1];
  return weights.map((weight) => [
    scale === "sqrt" ? Math.sqrt(weight) : weight,
    String(Number((weight * largest).toPrecision(2))),
  ]);
}
