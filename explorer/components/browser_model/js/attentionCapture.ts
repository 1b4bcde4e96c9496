/** Capture the attention of a Transformer, as `explorer/model/captured_pass.py` does. */

import { SITES } from "../../trace/js/look.ts";
import { type Action, type Values, watching } from "./hookPoint.ts";
import { causalMask, type Mask, paddingMask, reasonCodes } from "./masks.ts";
import { isDecoderOnly, type ModelConfig } from "./modelConfig.ts";
import type { Transformer } from "./transformer.ts";
import { PAD } from "./vocabulary.ts";

export type CapturedArray = { values: Values; shape: number[] };

/** By the names that a `Trace` has for them. */
export type CapturedArrays = Record<string, CapturedArray>;

export type Site = "encoder" | "decoder" | "cross";

export type Capture = "pattern" | "full"; // the weights alone, or scores, vectors and outputs too

/** Path of an attention. */
export const PATHS: Record<Site, (layer: number) => string> = {
  encoder: (layer) => `encoder.layers.${layer}.self_attention`,
  decoder: (layer) => `decoder.layers.${layer}.self_attention`,
  cross: (layer) => `decoder.layers.${layer}.cross_attention`,
};

/** Path of the residual connection around it. */
const RESIDUALS: Record<Site, (layer: number) => string> = {
  encoder: (layer) => `encoder.layers.${layer}.around_self_attention`,
  decoder: (layer) => `decoder.layers.${layer}.around_self_attention`,
  cross: (layer) => `decoder.layers.${layer}.around_cross_attention`,
};
const RESIDUAL = ["input", "sublayer_input", "sublayer_output", "output"];

/** Hook points of one layer, by kind of array. */
const LAYER: Record<string, string> = {
  feed_forward_hidden: "feed_forward.hidden",
  feed_forward_output: "around_feed_forward.sublayer_output",
  layer_output: "around_feed_forward.output",
};

/** Hook points of a whole stack, by kind of array. */
const STACK: Record<string, string> = {
  token_vectors: "embedding.scaled",
  embedding: "embedding.output",
  stack_output: "output",
};

/** Kind of array → hook point. */
const HOOKS: Record<Capture, Record<string, string>> = {
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
 */
export function capturing<Result>(
  model: Transformer,
  sites: readonly Site[],
  capture: Capture,
  run: () => Result,
) {
  const arrays: CapturedArrays = {};
  const actions: Record<string, Action> = {};
  for (const site of sites) {
    const layers = layersOf(model.config, site);
    for (let layer = 0; layer < layers; layer++) {
      for (const [path, name] of pointsOf(site, layer, capture)) {
        actions[path] = (values, shape) =>
          store(arrays, { name, layer, layers }, { values, shape });
      }
    }
    if (capture === "full") watchStack(arrays, actions, stackOf(site));
  }
  const result = watching(model.hookPoints, actions, run);
  return { result, arrays };
}

export function stackOf(site: Site) {
  return site === "encoder" ? "encoder" : "decoder";
}

/** The sites at which a model has attention, in the order of all lists of them. */
export function sitesOf(config: ModelConfig): readonly Site[] {
  return isDecoderOnly(config) ? ["decoder"] : SITES;
}

/** How many layers have an attention at one of the model's sites. */
export function layersOf(config: ModelConfig, site: Site) {
  return site === "encoder" ? config.encoder_layers : config.decoder_layers;
}

/** The hook points of a layer and the names of their arrays. */
function pointsOf(site: Site, layer: number, capture: Capture): [string, string][] {
  const stack = stackOf(site);
  const heads: [string, string][] = Object.entries(HOOKS[capture]).map(([kind, hook]) => [
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

function pair(path: string, name: string): [string, string] {
  return [path, name];
}

/** Let `actions` store the arrays of a whole stack, (query, width). */
function watchStack(arrays: CapturedArrays, actions: Record<string, Action>, stack: string) {
  for (const [kind, hook] of Object.entries(STACK)) {
    actions[`${stack}.${hook}`] = (values, shape) => {
      arrays[`${stack}.${kind}`] = { values: values.slice(), shape };
    };
  }
}

/** A layer of the array called `name`, which has `layers`. */
interface Place {
  name: string;
  layer: number;
  layers: number;
}

/** Copy the array of a layer into that of all. */
function store(
  arrays: CapturedArrays,
  { name, layer, layers }: Place,
  { values, shape }: CapturedArray,
) {
  arrays[name] ??= {
    values: new Float32Array(layers * values.length),
    shape: [layers, ...shape],
  };
  arrays[name].values.set(values, layer * values.length);
}

/**
 * The codes of the masks, "closed" of each site (query, key).
 * @param omitted whether the model ran without its masks
 */
export function maskCodes(
  config: ModelConfig,
  source: readonly number[],
  target: readonly number[],
  omitted: boolean,
): CapturedArrays {
  const padding = source.map((token) => token === PAD);
  const none = target.map(() => false);
  const own = config.causal ? causalMask(target) : paddingMask(target);
  const memory = paddingMask(source);
  if (omitted) for (const { allowed } of [own, memory]) allowed.fill(1);
  const codes: Record<Site, () => CapturedArray> = {
    encoder: () => coded(memory, source.length, padding, false),
    decoder: () => coded(own, target.length, none, true),
    cross: () => coded(memory, target.length, padding, false),
  };
  return Object.fromEntries(sitesOf(config).map((site) => [`${site}.closed`, codes[site]()]));
}

function coded(mask: Mask, queries: number, padding: boolean[], causal: boolean) {
  return { values: reasonCodes(mask, queries, padding, causal), shape: [queries, mask.keys] };
}
