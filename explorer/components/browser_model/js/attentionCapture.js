/**
 * Capture the attention of a Transformer, as `explorer/model/captured_pass.py` does.
 *
 * @import { Action, Values } from "./hookPoint.js"
 * @import { Mask } from "./masks.js"
 * @import { Transformer } from "./transformer.js"
 * @typedef {{values: Values, shape: number[]}} CapturedArray
 * @typedef {Record<string, CapturedArray>} CapturedArrays by the names that a `Trace` has for them
 * @typedef {"encoder" | "decoder" | "cross"} Site
 * @typedef {"pattern" | "full"} Capture the weights alone, or scores, vectors and outputs too
 */

import { watching } from "./hookPoint.js";
import { causalMask, paddingMask, reasonCodes } from "./masks.js";
import { PAD } from "./vocabulary.js";

/** @type {Record<Site, (layer: number) => string>} path of an attention */
const PATHS = {
  encoder: (layer) => `encoder.layers.${layer}.self_attention`,
  decoder: (layer) => `decoder.layers.${layer}.self_attention`,
  cross: (layer) => `decoder.layers.${layer}.cross_attention`,
};

/** @type {Record<Capture, Record<string, string>>} kind of array → hook point */
const HOOKS = {
  pattern: { attention: "pattern" },
  full: {
    attention: "pattern",
    query_vectors: "query_vectors",
    key_vectors: "key_vectors",
    scores: "scores",
    values: "values",
    head_output: "head_output",
  },
};

/**
 * What `run` gives, and the arrays of the attention at `sites` meanwhile: those of `capture`,
 * (layer, head, …). A second pass in `run` replaces those of the first.
 * @template Result
 * @param {Transformer} model
 * @param {readonly Site[]} sites
 * @param {Capture} capture
 * @param {() => Result} run
 */
export function capturing(model, sites, capture, run) {
  const { encoder_layers, decoder_layers } = model.config;
  /** @type {CapturedArrays} */
  const arrays = {};
  /** @type {Record<string, Action>} */
  const actions = {};
  for (const site of sites) {
    const layers = site === "encoder" ? encoder_layers : decoder_layers;
    for (const [kind, hook] of Object.entries(HOOKS[capture])) {
      for (let layer = 0; layer < layers; layer++) {
        actions[`${PATHS[site](layer)}.${hook}`] = (values, shape) =>
          store(arrays, `${site}.${kind}`, layer, layers, values, shape);
      }
    }
  }
  const result = watching(model.hookPoints, actions, run);
  return { result, arrays };
}

/**
 * Copy `values` in as a layer of the array called `name`.
 * @param {CapturedArrays} arrays
 * @param {string} name
 * @param {number} layer
 * @param {number} layers
 * @param {Values} values
 * @param {number[]} shape
 */
function store(arrays, name, layer, layers, values, shape) {
  arrays[name] ??= {
    values: new Float32Array(layers * values.length),
    shape: [layers, ...shape],
  };
  arrays[name].values.set(values, layer * values.length);
}

/**
 * The codes of the masks, "closed" of each site (query, key).
 * @param {readonly number[]} source
 * @param {readonly number[]} target
 * @param {boolean} causal
 * @returns {CapturedArrays}
 */
export function maskCodes(source, target, causal) {
  const padding = source.map((token) => token === PAD);
  const none = target.map(() => false);
  const own = causal ? causalMask(target) : paddingMask(target);
  const memory = paddingMask(source);
  return {
    "encoder.closed": coded(memory, source.length, padding, false),
    "decoder.closed": coded(own, target.length, none, true),
    "cross.closed": coded(memory, target.length, padding, false),
  };
}

/**
 * @param {Mask} mask
 * @param {number} queries
 * @param {boolean[]} padding
 * @param {boolean} causal
 */
function coded(mask, queries, padding, causal) {
  return { values: reasonCodes(mask, queries, padding, causal), shape: [queries, mask.keys] };
}
