/**
 * The sizes of a Transformer, checked as `explorer/model/config.py` checks them.
 *
 * @typedef {object} ModelConfig
 * @property {number} source_vocabulary entries, the three specials included
 * @property {number} target_vocabulary
 * @property {number} d_model
 * @property {number} heads
 * @property {number} encoder_layers
 * @property {number} decoder_layers
 * @property {number} d_ff
 * @property {number} dropout
 * @property {"pre" | "post"} norm LayerNorm before or after each sublayer
 * @property {number} max_length tokens on either side, specials included
 * @property {boolean} tied_embeddings source, target and output share one matrix (§3.4)
 * @property {boolean} causal false lets target positions attend to the answer
 * @property {number} [norm_eps] what LayerNorm adds to the variance, where it is not the usual 1e-5
 */

import { ModelError } from "./modelError.js";

/** @type {[keyof ModelConfig, number, number][]} field, least and most */
const SIZES = [
  ["source_vocabulary", 4, 1_000_000],
  ["target_vocabulary", 4, 1_000_000],
  ["d_model", 1, 8192],
  ["heads", 1, 128],
  ["encoder_layers", 1, 64],
  ["decoder_layers", 1, 64],
  ["d_ff", 1, 65_536],
  ["max_length", 2, 8192],
];

/**
 * `stored` as the config of a model. Throws a `ModelError` on sizes that do not fit together.
 * @param {Record<string, unknown>} stored
 * @returns {ModelConfig}
 */
export function checkedConfig(stored) {
  const config = /** @type {ModelConfig} */ (/** @type {unknown} */ (stored));
  for (const [name, least, most] of SIZES) {
    const got = config[name];
    if (!Number.isInteger(got) || Number(got) < least || Number(got) > most) {
      throw new ModelError("bad_size", { name, got: got ?? "missing", least, most });
    }
  }
  const { d_model, heads, norm, source_vocabulary, target_vocabulary } = config;
  if (d_model % heads) throw new ModelError("not_divisible", { d_model, heads });
  if (d_model % 2) throw new ModelError("odd_width", { d_model });
  if (norm !== "pre" && norm !== "post") refuseChoice("norm", norm, "pre, post");
  for (const name of /** @type {const} */ (["tied_embeddings", "causal"])) {
    if (typeof config[name] !== "boolean") refuseChoice(name, config[name], "true, false");
  }
  const { norm_eps = 1e-5 } = config;
  if (typeof norm_eps !== "number" || !(norm_eps > 0 && norm_eps < 1)) {
    throw new ModelError("bad_number", {
      name: "norm_eps",
      got: norm_eps,
      least: 1e-12,
      most: 0.99,
    });
  }
  if (config.tied_embeddings && source_vocabulary !== target_vocabulary) {
    throw new ModelError("tied_sizes", { source: source_vocabulary, target: target_vocabulary });
  }
  return config;
}

/**
 * @param {string} name
 * @param {unknown} got
 * @param {string} choices
 * @returns {never}
 */
function refuseChoice(name, got, choices) {
  throw new ModelError("bad_choice", { name, got, choices });
}
