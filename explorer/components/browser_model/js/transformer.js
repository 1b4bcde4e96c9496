/**
 * The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762), as
 * `explorer/model/transformer.py` computes it, with the same hook points, for one sequence.
 *
 * In the order of the paper: the model and its stacks (§3.1), here; attention (§3.2) in
 * `attention.js`; feed-forward networks (§3.3) in `layers.js`; embeddings (§3.4) and positions
 * (§3.5), here. Matrices are `Float32Array`s, row by row. Letters in shape comments:
 *
 *     S source length   T target length   V vocabulary   D width
 *     H heads           K head width      L number of keys (S or T)
 *
 * @import { HookPoints } from "./hookPoint.js"
 * @import { LayerCache } from "./layers.js"
 * @import { Mask } from "./masks.js"
 * @import { Norm } from "./matrices.js"
 * @import { ModelConfig } from "./modelConfig.js"
 * @import { Weights } from "./weights.js"
 * @typedef {{layers: LayerCache[], memoryMask: Mask, length: number}} Cache
 *   the state of decoding step by step
 */

import { HeadVectors } from "./headVectors.js";
import { hookPoint } from "./hookPoint.js";
import { DecoderLayer, EncoderLayer } from "./layers.js";
import { causalMask, paddingMask } from "./masks.js";
import { layerNorm, linear } from "./matrices.js";

/** Encoder, decoder, and the linear map from the output of the decoder to logits (§3.1). */
export class Transformer {
  /**
   * @param {ModelConfig} config
   * @param {Weights} weights
   */
  constructor(config, weights) {
    this.config = config;
    /** @type {HookPoints} */
    this.hookPoints = new Map();
    this.encoder = new Encoder(config, weights, this.hookPoints);
    this.decoder = new Decoder(config, weights, this.hookPoints);
    this.logits = new Logits(weights, this.hookPoints);
  }

  /**
   * Logits (T, V) of the token after each of `target`, given `source`.
   * @param {readonly number[]} source
   * @param {readonly number[]} target
   */
  forward(source, target) {
    const memoryMask = paddingMask(source);
    return this.decode(target, this.encode(source, memoryMask), memoryMask);
  }

  /**
   * The memory (S, D) of `source`; `mask` is its `paddingMask`.
   * @param {readonly number[]} source
   * @param {Mask} mask
   */
  encode(source, mask) {
    return this.encoder.forward(source, mask);
  }

  /**
   * Logits (T, V) of the token after each of `target`, all in one pass.
   * @param {readonly number[]} target
   * @param {Float32Array} memory
   * @param {Mask} memoryMask
   */
  decode(target, memory, memoryMask) {
    const mask = this.config.causal ? causalMask(target) : paddingMask(target);
    const hidden = this.decoder.forward(target, memory, mask, memoryMask);
    return this.logits.forward(hidden, target.length);
  }

  /**
   * An empty cache for decoding from `memory` (S, D), projected once, here.
   * @param {Float32Array} memory
   * @param {Mask} memoryMask
   * @returns {Cache}
   */
  start(memory, memoryMask) {
    const { heads, d_model, max_length } = this.config;
    const empty = () => new HeadVectors(heads, d_model / heads, max_length);
    const layers = this.decoder.project(memory, memoryMask).map((projected) => ({
      memory: projected,
      own: { keys: empty(), values: empty() },
    }));
    return { layers, memoryMask, length: 0 };
  }

  /**
   * Logits (V) of the token after `token`, which is added to `cache`.
   * @param {number} token
   * @param {Cache} cache
   */
  step(token, cache) {
    return this.logits.forward(this.decoder.step(token, cache), 1);
  }
}

class Encoder {
  /**
   * @param {ModelConfig} config
   * @param {Weights} weights
   * @param {HookPoints} points
   */
  constructor(config, weights, points) {
    this.embedding = new Embedding(weights, "encoder.embedding", config, points);
    this.layers = Array.from(
      { length: config.encoder_layers },
      (_, layer) => new EncoderLayer(weights, `encoder.layers.${layer}`, config, points),
    );
    this.norm = finalNorm(config, weights, "encoder.norm");
    this.output = hookPoint(points, "encoder.output"); // (S, D), the memory
  }

  /**
   * @param {readonly number[]} source
   * @param {Mask} mask
   */
  forward(source, mask) {
    const rows = source.length;
    let x = this.embedding.forward(source, 0); // (S, D)
    for (const layer of this.layers) x = layer.forward(x, rows, mask);
    x = this.norm ? layerNorm(x, rows, this.norm) : x;
    return this.output.see(x, rows, x.length / rows);
  }
}

class Decoder {
  /**
   * @param {ModelConfig} config
   * @param {Weights} weights
   * @param {HookPoints} points
   */
  constructor(config, weights, points) {
    this.embedding = new Embedding(weights, "decoder.embedding", config, points);
    this.layers = Array.from(
      { length: config.decoder_layers },
      (_, layer) => new DecoderLayer(weights, `decoder.layers.${layer}`, config, points),
    );
    this.norm = finalNorm(config, weights, "decoder.norm");
    this.output = hookPoint(points, "decoder.output"); // (T, D)
  }

  /**
   * @param {readonly number[]} target
   * @param {Float32Array} memory
   * @param {Mask} mask
   * @param {Mask} memoryMask
   */
  forward(target, memory, mask, memoryMask) {
    const rows = target.length;
    const projected = this.project(memory, memoryMask);
    let x = this.embedding.forward(target, 0); // (T, D)
    this.layers.forEach((layer, index) => {
      x = layer.forward(x, rows, projected[index], mask, memoryMask);
    });
    return this.finished(x, rows);
  }

  /**
   * As `forward` for one new token; earlier keys and values are in `cache`.
   * @param {number} token
   * @param {Cache} cache
   */
  step(token, cache) {
    let x = this.embedding.forward([token], cache.length); // (1, D)
    this.layers.forEach((layer, index) => {
      x = layer.step(x, cache.layers[index], cache.memoryMask);
    });
    cache.length += 1;
    return this.finished(x, 1);
  }

  /**
   * For each layer, the keys and values of `memory` (S, D).
   * @param {Float32Array} memory
   * @param {Mask} memoryMask
   */
  project(memory, memoryMask) {
    return this.layers.map((layer) => layer.crossAttention.project(memory, memoryMask.keys));
  }

  /**
   * @param {Float32Array} x (T, D), the sum after the last layer
   * @param {number} rows
   */
  finished(x, rows) {
    const normed = this.norm ? layerNorm(x, rows, this.norm) : x;
    return this.output.see(normed, rows, normed.length / rows);
  }
}

/** The linear map from the output of the decoder to a score for each token (§3.4). */
class Logits {
  /**
   * @param {Weights} weights
   * @param {HookPoints} points
   */
  constructor(weights, points) {
    this.parameters = weights.parameters("logits");
    this.values = hookPoint(points, "logits.values"); // (T, V)
  }

  /**
   * @param {Float32Array} hidden (T, D)
   * @param {number} rows
   */
  forward(hidden, rows) {
    return this.values.see(
      linear(hidden, rows, this.parameters),
      rows,
      this.parameters.bias.length,
    );
  }
}

/** Token embeddings scaled by √D, plus positions (§3.4, §3.5). */
class Embedding {
  /**
   * @param {Weights} weights
   * @param {string} path
   * @param {ModelConfig} config
   * @param {HookPoints} points
   */
  constructor(weights, path, config, points) {
    this.tokens = weights.matrix(`${path}.tokens.weight`); // (V, D)
    this.width = config.d_model;
    this.positions = sinusoids(config.max_length, config.d_model);
    this.scaled = hookPoint(points, `${path}.scaled`); // (T, D), without positions
    this.positionVectors = hookPoint(points, `${path}.position_vectors`); // (T, D)
    this.output = hookPoint(points, `${path}.output`); // (T, D)
  }

  /**
   * The vectors (T, D) of `tokens` at the positions from `start` on.
   * @param {readonly number[]} tokens
   * @param {number} start
   */
  forward(tokens, start) {
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

/**
 * Positions as sines and cosines of falling frequency: (length, width). §3.5.
 * @param {number} length
 * @param {number} width
 */
function sinusoids(length, width) {
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

/**
 * The LayerNorm after the last layer: with pre-norm, nothing else normalises the sum.
 * @param {ModelConfig} config
 * @param {Weights} weights
 * @param {string} path
 * @returns {Norm | null}
 */
function finalNorm(config, weights, path) {
  if (config.norm !== "pre") return null;
  return { ...weights.parameters(path), epsilon: config.norm_eps };
}
