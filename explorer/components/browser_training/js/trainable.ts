/**
 * The Transformer of `explorer/model/transformer.py` once more, in operations that jax-js
 * differentiates. Dropout, tied embeddings and norms after a sublayer are left out.
 *
 * jax-js counts references: a function uses up the arrays it is given, and `x.ref` is one use more.
 *
 * Letters in shape comments:
 *
 *     B batch      S source length     T target length     V vocabulary
 *     D width      H heads             K head width        L number of keys (S or T)
 */

import { type Array as DeviceArray, nn, numpy as np, tree } from "@jax-js/jax";
import { isDecoderOnly, type ModelConfig } from "../../browser_model/js/modelConfig.ts";
import { PAD } from "../../browser_model/js/vocabulary.ts";

export type Weights = Record<string, DeviceArray>;

/** Token ids (B, S) and (B, T). A type, not an interface: jax-js looks for arrays in it. */
export type Fed = { source?: DeviceArray; target: DeviceArray }; // no source: a decoder alone

/** The same, and the tokens (B, T) that are to be written. */
export type TrainingBatch = Fed & { answer: DeviceArray };

/** Weights that a pass borrows, its sizes, and what it keeps. */
interface Pass {
  config: ModelConfig;
  weights: Weights;
  batch: number;
  captured?: DeviceArray[]; // see `logitsOf`
}

const MASKED = -1e9; // a score whose weight is 0 in float32
const NORM_EPS = 1e-5; // as in Python

/**
 * Logits (B · T, V) of the token after each of `target`. The weights are borrowed.
 * @param captured gets the weights, layer by layer, of the cross-attention (B, H, T, S), or of the
 * self-attention of a decoder alone (B, H, T, T)
 */
export function logitsOf(
  config: ModelConfig,
  weights: Weights,
  { source, target }: Fed,
  captured?: DeviceArray[],
): DeviceArray {
  const pass: Pass = { config, weights, batch: target.shape[0], captured };
  const targetMask = config.causal ? causalMask(target.shape[1]) : paddingMask(target.ref);
  if (!source) return linear(pass, "logits", encoded(pass, "decoder", target, targetMask));
  const sourceMask = paddingMask(source.ref);
  const memory = encoded(pass, "encoder", source, sourceMask.ref);
  return linear(pass, "logits", decoded(pass, target, memory, targetMask, sourceMask));
}

/** The mean cross-entropy of the answer, padding left out. The weights are borrowed. */
export function lossOf(
  config: ModelConfig,
  weights: Weights,
  { answer, ...fed }: TrainingBatch,
): DeviceArray {
  const counted = answer.ref.notEqual(PAD).astype(np.float32).sum();
  return lossesOf(logitsOf(config, weights, fed), answer)
    .sum()
    .div(counted);
}

/**
 * The cross-entropy (N,) of each token of `answer` (B, T), 0 for padding.
 * @param logits (N, V), N = B · T
 */
export function lossesOf(logits: DeviceArray, answer: DeviceArray): DeviceArray {
  const [count, entries] = logits.shape;
  const flat = answer.reshape([count]);
  const counted = flat.ref.notEqual(PAD).astype(np.float32);
  const right = nn.oneHot(flat, entries);
  return nn.logSoftmax(logits, -1).mul(right).sum(-1).mul(counted).neg();
}

/**
 * The output (B · L, D) of a stack whose layers have self-attention alone: the encoder's, which is
 * the memory, or that of a decoder alone.
 */
function encoded(pass: Pass, stack: "encoder" | "decoder", tokens: DeviceArray, mask: DeviceArray) {
  let x = embedded(pass, `${stack}.embedding`, tokens);
  for (let number = 0; number < pass.config[`${stack}_layers`]; number++) {
    const path = `${stack}.layers.${number}`;
    x = withSelfAttention(pass, path, x, mask.ref);
    x = withFeedForward(pass, path, x);
  }
  mask.dispose();
  return layerNorm(pass, `${stack}.norm`, x);
}

/** The decoder's output (B · T, D). */
function decoded(
  pass: Pass,
  target: DeviceArray,
  memory: DeviceArray,
  mask: DeviceArray,
  memoryMask: DeviceArray,
) {
  let x = embedded(pass, "decoder.embedding", target);
  for (let number = 0; number < pass.config.decoder_layers; number++) {
    const path = `decoder.layers.${number}`;
    x = withSelfAttention(pass, path, x, mask.ref);
    x = withCrossAttention(pass, path, x, memory.ref, memoryMask.ref);
    x = withFeedForward(pass, path, x);
  }
  tree.dispose([memory, mask, memoryMask]);
  return layerNorm(pass, "decoder.norm", x);
}

function withSelfAttention(pass: Pass, path: string, x: DeviceArray, mask: DeviceArray) {
  const y = layerNorm(pass, `${path}.around_self_attention`, x.ref);
  const name = `${path}.self_attention`;
  const [query, key, value] = split(pass, linear(pass, `${name}.query_key_value`, y), 3);
  const pattern = patternOf(query, key, mask);
  if (isDecoderOnly(pass.config)) pass.captured?.push(pattern.ref);
  return x.add(linear(pass, `${name}.output`, mixed(pattern, value)));
}

function withCrossAttention(
  pass: Pass,
  path: string,
  x: DeviceArray,
  memory: DeviceArray,
  mask: DeviceArray,
) {
  const y = layerNorm(pass, `${path}.around_cross_attention`, x.ref);
  const name = `${path}.cross_attention`;
  const [query] = split(pass, linear(pass, `${name}.query`, y), 1);
  const [key, value] = split(pass, linear(pass, `${name}.key_value`, memory), 2);
  const pattern = patternOf(query, key, mask);
  pass.captured?.push(pattern.ref);
  return x.add(linear(pass, `${name}.output`, mixed(pattern, value)));
}

function withFeedForward(pass: Pass, path: string, x: DeviceArray) {
  const y = layerNorm(pass, `${path}.around_feed_forward`, x.ref);
  const hidden = nn.relu(linear(pass, `${path}.feed_forward.expand`, y));
  return x.add(linear(pass, `${path}.feed_forward.contract`, hidden));
}

/** softmax(Q Kᵀ / √K) of each head (B, H, T, L). */
function patternOf(query: DeviceArray, key: DeviceArray, mask: DeviceArray) {
  const scale = 1 / Math.sqrt(query.shape[3]);
  const scores = np.matmul(query, key.transpose([0, 1, 3, 2])).mul(scale);
  return nn.softmax(np.where(mask, scores, MASKED), -1);
}

/** The values (B, H, L, K), mixed by a pattern: (B · T, D). */
function mixed(pattern: DeviceArray, value: DeviceArray) {
  const [batch, heads, queries] = pattern.shape;
  const width = heads * value.shape[3];
  return np
    .matmul(pattern, value)
    .transpose([0, 2, 1, 3])
    .reshape([batch * queries, width]);
}

/** The heads of `parts` concatenated vectors (B · L, parts · D): (B, H, L, K) each. */
function split({ config, batch }: Pass, x: DeviceArray, parts: number) {
  const { heads, d_model } = config;
  const length = x.shape[0] / batch;
  const width = d_model / heads;
  const apart = x.reshape([batch, length, parts, heads, width]).transpose([2, 0, 3, 1, 4]);
  return np.split(apart, parts, 0).map((part) => part.reshape([batch, heads, length, width]));
}

/** Tokens (B, L) → (B · L, D), with their positions. A product of matrices has a fast gradient. */
function embedded({ config, weights }: Pass, name: string, tokens: DeviceArray) {
  const [batch, length] = tokens.shape;
  const table = weights[`${name}.tokens.weight`];
  const [entries, width] = table.shape;
  const chosen = nn.oneHot(tokens.reshape([batch * length]), entries);
  const scaled = np.matmul(chosen, table.ref).mul(Math.sqrt(config.d_model));
  const placed = scaled.reshape([batch, length, width]).add(sinusoids(length, width));
  return placed.reshape([batch * length, width]);
}

/** Positions as sines and cosines of falling frequency (length, width), §3.5. */
function sinusoids(length: number, width: number) {
  const angles = Float32Array.from({ length: length * width }, (_, index) => {
    const [position, column] = [Math.floor(index / width), index % width];
    const angle = position * Math.exp((column - (column % 2)) * (-Math.log(10_000) / width));
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
  return np.array(angles).reshape([length, width]);
}

/** x (N, inputs) → (N, outputs). The logits of a decoder alone have no bias. */
function linear({ weights }: Pass, name: string, x: DeviceArray) {
  const y = np.matmul(x, weights[`${name}.weight`].ref.transpose());
  const bias = weights[`${name}.bias`];
  return bias ? y.add(bias.ref) : y;
}

/** Each row of x (N, D) with mean 0 and variance 1, then scaled and moved. */
function layerNorm({ weights }: Pass, name: string, x: DeviceArray) {
  const centred = x.ref.sub(x.mean(-1, { keepdims: true }));
  const variance = np.square(centred.ref).mean(-1, { keepdims: true });
  const normed = centred.mul(np.reciprocal(np.sqrt(variance.add(NORM_EPS))));
  return normed.mul(weights[`${name}.weight`].ref).add(weights[`${name}.bias`].ref);
}

/** Tokens (B, L) → (B, 1, 1, L), true = may be attended to. */
function paddingMask(tokens: DeviceArray) {
  const [batch, length] = tokens.shape;
  return tokens.notEqual(PAD).reshape([batch, 1, 1, length]);
}

/** (1, 1, T, T); padding comes last, so it is hidden from all tokens. */
function causalMask(length: number) {
  return np.tri(length).greater(0.5).reshape([1, 1, length, length]);
}
