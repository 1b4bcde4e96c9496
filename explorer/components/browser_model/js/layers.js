/**
 * The layers of encoder and decoder (§3.1), their feed-forward networks (§3.3) and residual
 * connections. Letters of shapes as in `transformer.js`.
 *
 * @import { HeadVectors } from "./headVectors.js"
 * @import { HookPoints } from "./hookPoint.js"
 * @import { Mask } from "./masks.js"
 * @import { ModelConfig } from "./modelConfig.js"
 * @import { Weights } from "./weights.js"
 * @typedef {{keys: HeadVectors, values: HeadVectors}} KeysValues
 * @typedef {{memory: KeysValues, own: KeysValues}} LayerCache of one decoder layer
 */

import { CrossAttention, SelfAttention } from "./attention.js";
import { hookPoint } from "./hookPoint.js";
import { layerNorm, linear, sum } from "./matrices.js";

export class EncoderLayer {
  /**
   * @param {Weights} weights
   * @param {string} path
   * @param {ModelConfig} config
   * @param {HookPoints} points
   */
  constructor(weights, path, config, points) {
    this.selfAttention = new SelfAttention(weights, `${path}.self_attention`, config.heads, points);
    this.feedForward = new FeedForward(weights, `${path}.feed_forward`, points);
    this.aroundSelfAttention = new Residual(
      weights,
      `${path}.around_self_attention`,
      config,
      points,
    );
    this.aroundFeedForward = new Residual(weights, `${path}.around_feed_forward`, config, points);
  }

  /**
   * @param {Float32Array} x (S, D)
   * @param {number} rows
   * @param {Mask} mask
   */
  forward(x, rows, mask) {
    const attended = this.aroundSelfAttention.forward(x, rows, (y) =>
      this.selfAttention.forward(y, rows, mask),
    );
    return this.aroundFeedForward.forward(attended, rows, (y) => this.feedForward.forward(y, rows));
  }
}

export class DecoderLayer {
  /**
   * @param {Weights} weights
   * @param {string} path
   * @param {ModelConfig} config
   * @param {HookPoints} points
   */
  constructor(weights, path, config, points) {
    const { heads } = config;
    this.selfAttention = new SelfAttention(weights, `${path}.self_attention`, heads, points);
    this.crossAttention = new CrossAttention(weights, `${path}.cross_attention`, heads, points);
    this.feedForward = new FeedForward(weights, `${path}.feed_forward`, points);
    this.aroundSelfAttention = new Residual(
      weights,
      `${path}.around_self_attention`,
      config,
      points,
    );
    this.aroundCrossAttention = new Residual(
      weights,
      `${path}.around_cross_attention`,
      config,
      points,
    );
    this.aroundFeedForward = new Residual(weights, `${path}.around_feed_forward`, config, points);
  }

  /**
   * @param {Float32Array} x (T, D)
   * @param {number} rows
   * @param {KeysValues} memory
   * @param {Mask} mask
   * @param {Mask} memoryMask
   */
  forward(x, rows, memory, mask, memoryMask) {
    const attended = this.aroundSelfAttention.forward(x, rows, (y) =>
      this.selfAttention.forward(y, rows, mask),
    );
    return this.afterSelfAttention(attended, rows, memory, memoryMask);
  }

  /**
   * As `forward` for one new token (1, D); earlier keys and values are in `cache`.
   * @param {Float32Array} x
   * @param {LayerCache} cache
   * @param {Mask} memoryMask
   */
  step(x, cache, memoryMask) {
    const attended = this.aroundSelfAttention.forward(x, 1, (y) =>
      this.selfAttention.step(y, cache.own),
    );
    return this.afterSelfAttention(attended, 1, cache.memory, memoryMask);
  }

  /**
   * @param {Float32Array} x (T, D)
   * @param {number} rows
   * @param {KeysValues} memory
   * @param {Mask} memoryMask
   */
  afterSelfAttention(x, rows, memory, memoryMask) {
    const attended = this.aroundCrossAttention.forward(x, rows, (y) =>
      this.crossAttention.forward(y, rows, memory, memoryMask),
    );
    return this.aroundFeedForward.forward(attended, rows, (y) => this.feedForward.forward(y, rows));
  }
}

/** LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or pre-norm x + Sublayer(LayerNorm(x)). */
class Residual {
  /**
   * @param {Weights} weights
   * @param {string} path
   * @param {ModelConfig} config
   * @param {HookPoints} points
   */
  constructor(weights, path, config, points) {
    this.norm = { ...weights.parameters(path), epsilon: config.norm_eps };
    this.width = config.d_model;
    this.pre = config.norm === "pre";
    this.input = hookPoint(points, `${path}.input`); // (L, D)
    this.sublayerInput = hookPoint(points, `${path}.sublayer_input`); // (L, D)
    this.sublayerOutput = hookPoint(points, `${path}.sublayer_output`); // (L, D)
    this.output = hookPoint(points, `${path}.output`); // (L, D)
  }

  /**
   * @param {Float32Array} input (L, D)
   * @param {number} rows
   * @param {(y: Float32Array) => Float32Array} sublayer
   */
  forward(input, rows, sublayer) {
    const { width, pre, norm } = this;
    const x = this.input.see(input, rows, width);
    const y = this.sublayerInput.see(pre ? layerNorm(x, rows, norm) : x, rows, width);
    const added = sum(x, this.sublayerOutput.see(sublayer(y), rows, width));
    return this.output.see(pre ? added : layerNorm(added, rows, norm), rows, width);
  }
}

/** Two linear maps with a ReLU between, the same at every position (§3.3, equation 2). */
class FeedForward {
  /**
   * @param {Weights} weights
   * @param {string} path
   * @param {HookPoints} points
   */
  constructor(weights, path, points) {
    this.expand = weights.parameters(`${path}.expand`);
    this.contract = weights.parameters(`${path}.contract`);
    this.hidden = hookPoint(points, `${path}.hidden`); // (L, d_ff), after ReLU
  }

  /**
   * @param {Float32Array} x (L, D)
   * @param {number} rows
   */
  forward(x, rows) {
    const expanded = linear(x, rows, this.expand); // (L, d_ff)
    for (let index = 0; index < expanded.length; index++) {
      if (expanded[index] < 0) expanded[index] = 0;
    }
    this.hidden.see(expanded, rows, expanded.length / rows);
    return linear(expanded, rows, this.contract);
  }
}
