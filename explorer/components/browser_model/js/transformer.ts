/**
 * The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762), as
 * `explorer/model/transformer.py` computes it, with the same hook points, for one sequence.
 *
 * In the order of the paper: the model and its stacks (§3.1), here; attention (§3.2) in
 * `attention.ts`; feed-forward networks (§3.3) in `layers.ts`; embeddings (§3.4) and positions
 * (§3.5), here. Matrices are `Float32Array`s, row by row. Letters in shape comments:
 *
 *     S source length   T target length   V vocabulary   D width
 *     H heads           K head width      L number of keys (S or T)
 *
 * A decoder alone is the same with S = 0: no encoder, and no cross-attention in its layers.
 */

import { HeadVectors } from "./headVectors.ts";
import { type HookPoint, type HookPoints, hookPoint } from "./hookPoint.ts";
import { DecoderLayer, DecoderOnlyLayer, EncoderLayer, type LayerCache } from "./layers.ts";
import { causalMask, type Mask, paddingMask } from "./masks.ts";
import { type Linear, layerNorm, linear, type Norm } from "./matrices.ts";
import { isDecoderOnly, type ModelConfig } from "./modelConfig.ts";
import type { Weights } from "./weights.ts";

/** The state of decoding step by step. */
export type Cache = { layers: LayerCache[]; memoryMask: Mask; length: number };

/** Encoder, decoder, and the linear map from the output of the decoder to logits (§3.1). */
export class Transformer {
  config: ModelConfig;
  hookPoints: HookPoints;
  encoder: Encoder | null;
  decoder: Decoder;
  logits: Logits;

  constructor(config: ModelConfig, weights: Weights) {
    this.config = config;
    this.hookPoints = new Map();
    this.encoder = isDecoderOnly(config) ? null : new Encoder(config, weights, this.hookPoints);
    this.decoder = new Decoder(config, weights, this.hookPoints);
    this.logits = new Logits(weights, this.hookPoints);
  }

  /** Logits (T, V) of the token after each of `target`, given `source`. */
  forward(source: readonly number[], target: readonly number[]) {
    const memoryMask = paddingMask(source);
    return this.decode(target, this.encode(source, memoryMask), memoryMask);
  }

  /** The memory (S, D) of `source`; `mask` is its `paddingMask`. */
  encode(source: readonly number[], mask: Mask) {
    return this.encoder?.forward(source, mask) ?? new Float32Array(0);
  }

  /** Logits (T, V) of the token after each of `target`, all in one pass. */
  decode(target: readonly number[], memory: Float32Array, memoryMask: Mask) {
    const mask = this.config.causal ? causalMask(target) : paddingMask(target);
    const hidden = this.decoder.forward(target, memory, mask, memoryMask);
    return this.logits.forward(hidden, target.length);
  }

  /** An empty cache for decoding from `memory` (S, D), projected once, here. */
  start(memory: Float32Array, memoryMask: Mask): Cache {
    const { heads, d_model, max_length } = this.config;
    const empty = () => new HeadVectors(heads, d_model / heads, max_length);
    const layers = this.decoder.project(memory, memoryMask).map((projected) => ({
      memory: projected,
      own: { keys: empty(), values: empty() },
    }));
    return { layers, memoryMask, length: 0 };
  }

  /** Logits (V) of the token after `token`, which is added to `cache`. */
  step(token: number, cache: Cache) {
    return this.logits.forward(this.decoder.step(token, cache), 1);
  }
}

class Encoder {
  embedding: Embedding;
  layers: EncoderLayer[];
  norm: Norm | null;
  output: HookPoint;

  constructor(config: ModelConfig, weights: Weights, points: HookPoints) {
    this.embedding = new Embedding(weights, "encoder.embedding", config, points);
    this.layers = Array.from(
      { length: config.encoder_layers },
      (_, layer) => new EncoderLayer(weights, `encoder.layers.${layer}`, config, points),
    );
    this.norm = finalNorm(config, weights, "encoder.norm");
    this.output = hookPoint(points, "encoder.output"); // (S, D), the memory
  }

  forward(source: readonly number[], mask: Mask) {
    const rows = source.length;
    let x = this.embedding.forward(source, 0); // (S, D)
    for (const layer of this.layers) x = layer.forward(x, rows, mask);
    x = this.norm ? layerNorm(x, rows, this.norm) : x;
    return this.output.see(x, rows, x.length / rows);
  }
}

class Decoder {
  embedding: Embedding;
  layers: (DecoderLayer | DecoderOnlyLayer)[];
  norm: Norm | null;
  output: HookPoint;

  constructor(config: ModelConfig, weights: Weights, points: HookPoints) {
    this.embedding = new Embedding(weights, "decoder.embedding", config, points);
    const Layer = isDecoderOnly(config) ? DecoderOnlyLayer : DecoderLayer;
    this.layers = Array.from(
      { length: config.decoder_layers },
      (_, layer) => new Layer(weights, `decoder.layers.${layer}`, config, points),
    );
    this.norm = finalNorm(config, weights, "decoder.norm");
    this.output = hookPoint(points, "decoder.output"); // (T, D)
  }

  forward(target: readonly number[], memory: Float32Array, mask: Mask, memoryMask: Mask) {
    const rows = target.length;
    const projected = this.project(memory, memoryMask);
    let x = this.embedding.forward(target, 0); // (T, D)
    this.layers.forEach((layer, index) => {
      x = layer.forward(x, rows, projected[index], mask, memoryMask);
    });
    return this.finished(x, rows);
  }

  /** As `forward` for one new token; earlier keys and values are in `cache`. */
  step(token: number, cache: Cache) {
    let x = this.embedding.forward([token], cache.length); // (1, D)
    this.layers.forEach((layer, index) => {
      x = layer.step(x, cache.layers[index], cache.memoryMask);
    });
    cache.length += 1;
    return this.finished(x, 1);
  }

  /** For each layer, the keys and values of `memory` (S, D). */
  project(memory: Float32Array, memoryMask: Mask) {
    return this.layers.map((layer) => layer.project(memory, memoryMask.keys));
  }

  /** @param x (T, D), the sum after the last layer */
  finished(x: Float32Array, rows: number) {
    const normed = this.norm ? layerNorm(x, rows, this.norm) : x;
    return this.output.see(normed, rows, normed.length / rows);
  }
}

/** The linear map from the output of the decoder to a score for each token (§3.4). */
class Logits {
  parameters: Linear;
  values: HookPoint;

  constructor(weights: Weights, points: HookPoints) {
    this.parameters = weights.parameters("logits");
    this.values = hookPoint(points, "logits.values"); // (T, V)
  }

  /** @param hidden (T, D) */
  forward(hidden: Float32Array, rows: number) {
    return this.values.see(
      linear(hidden, rows, this.parameters),
      rows,
      this.parameters.bias.length,
    );
  }
}

/** Token embeddings scaled by √D, plus positions (§3.4, §3.5). */
class Embedding {
  tokens: Float32Array<ArrayBufferLike>;
  width: number;
  positions: Float32Array<ArrayBuffer>;
  scaled: HookPoint;
  positionVectors: HookPoint;
  output: HookPoint;

  constructor(weights: Weights, path: string, config: ModelConfig, points: HookPoints) {
    this.tokens = weights.matrix(`${path}.tokens.weight`); // (V, D)
    this.width = config.d_model;
    this.positions = sinusoids(config.max_length, config.d_model);
    this.scaled = hookPoint(points, `${path}.scaled`); // (T, D), without positions
    this.positionVectors = hookPoint(points, `${path}.position_vectors`); // (T, D)
    this.output = hookPoint(points, `${path}.output`); // (T, D)
  }

  /** The vectors (T, D) of `tokens` at the positions from `start` on. */
  forward(tokens: readonly number[], start: number) {
    const { width } = this;
    const scale = Math.fround(Math.sqrt(width));
    const x = new Float32Array(tokens.length * width);
    tokens.forEach((token, row) => {
      for (let index = 0; index < width; index++) {
        x[row * width + index] = this.tokens[token * width + index] * scale;
      }
    });
    this.scaled.see(x, tokens.length, width);
    const positions = this.positions.slice(start * width, (start + tokens.length) * width);
    this.positionVectors.see(positions, tokens.length, width);
    const y = x.map((value, index) => value + positions[index]); // a watched `x` stays as it is
    return this.output.see(y, tokens.length, width);
  }
}

/** Positions as sines and cosines of falling frequency: (length, width). §3.5. */
function sinusoids(length: number, width: number) {
  const vectors = new Float32Array(length * width);
  const { fround } = Math; // every step in float32, as the models were trained
  const fall = fround(-Math.log(10_000) / width);
  for (let position = 0; position < length; position++) {
    for (let index = 0; index < width; index += 2) {
      const angle = fround(position * fround(Math.exp(fround(index * fall))));
      vectors[position * width + index] = Math.sin(angle);
      vectors[position * width + index + 1] = Math.cos(angle);
    }
  }
  return vectors;
}

/** The LayerNorm after the last layer: with pre-norm, nothing else normalises the sum. */
function finalNorm(config: ModelConfig, weights: Weights, path: string): Norm | null {
  if (config.norm !== "pre") return null;
  return { ...weights.parameters(path), epsilon: config.norm_eps };
}
