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

/** @type {Record<Site, (layer: number) => string>} path of the residual connection around it */
const RESIDUALS = {
  encoder: (layer) => `encoder.layers.${layer}.around_self_attention`,
  decoder: (layer) => `decoder.layers.${layer}.around_self_attention`,
  cross: (layer) => `decoder.layers.${layer}.around_cross_attention`,
};
const RESIDUAL = ["input", "sublayer_input", "sublayer_output", "output"];

/** @type {Record<string, string>} of a layer of a stack: kind of array → hook point */
const LAYER = {
  feed_forward_hidden: "feed_forward.hidden",
  feed_forward_output: "around_feed_forward.sublayer_output",
  layer_output: "around_feed_forward.output",
};

/** @type {Record<string, string>} of a whole stack */
const STACK = {
  token_vectors: "embedding.scaled",
  embedding: "embedding.output",
  stack_output: "output",
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
  /** @type {CapturedArrays} */
  const arrays = {};
  /** @type {Record<string, Action>} */
  const actions = {};
  for (const site of sites) {
    const layers = layersOf(model, site);
    for (let layer = 0; layer < layers; layer++) {
      for (const [path, name] of pointsOf(site, layer, capture)) {
        actions[path] = (values, shape) => store(arrays, name, layer, layers, values, shape);
      }
    }
    if (capture === "full") watchStack(arrays, actions, stackOf(site));
  }
  const result = watching(model.hookPoints, actions, run);
  return { result, arrays };
}

/** @param {Site} site */
export function stackOf(site) {
  return site === "encoder" ? "encoder" : "decoder";
}

/**
 * @param {Transformer} model
 * @param {Site} site
 */
function layersOf({ config }, site) {
  return site === "encoder" ? config.encoder_layers : config.decoder_layers;
}

/**
 * The hook points of a layer and the names of their arrays.
 * @param {Site} site
 * @param {number} layer
 * @param {Capture} capture
 * @returns {[string, string][]}
 */
function pointsOf(site, layer, capture) {
  const stack = stackOf(site);
  /** @type {[string, string][]} */
  const heads = Object.entries(HOOKS[capture]).map(([kind, hook]) => [
    `${PATHS[site](layer)}.${hook}`,
    `${site}.${kind}`,
  ]);
  if (capture === "pattern") return heads;
  return [
    ...heads,
    ...RESIDUAL.map((kind) => pair(`${RESIDUALS[site](layer)}.${kind}`, `${site}.${kind}`)),
    ...Object.entries(LAYER).map(([kind, hook]) =>
      pair(`${stack}.layers.${layer}.${hook}`, `${stack}.${kind}`),
    ),
  ];
}

/**
 * @param {string} path
 * @param {string} name
 * @returns {[string, string]}
 */
function pair(path, name) {
  return [path, name];
}

/**
 * Let `actions` store the arrays of a whole stack, (query, width).
 * @param {CapturedArrays} arrays
 * @param {Record<string, Action>} actions
 * @param {string} stack
 */
function watchStack(arrays, actions, stack) {
  for (const [kind, hook] of Object.entries(STACK)) {
    actions[`${stack}.${hook}`] = (values, shape) => {
      arrays[`${stack}.${kind}`] = { values: values.slice(), shape };
    };
  }
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
 * @param {boolean} omitted whether the model ran without its masks
 * @returns {CapturedArrays}
 */
export function maskCodes(source, target, causal, omitted) {
  const padding = source.map((token) => token === PAD);
  const none = target.map(() => false);
  const own = causal ? causalMask(target) : paddingMask(target);
  const memory = paddingMask(source);
  if (omitted) for (const { allowed } of [own, memory]) allowed.fill(1);
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
