/**
 * The layers of encoder and decoder (§3.1), their feed-forward networks (§3.3) and residual
 * connections. Letters of shapes as in `transformer.ts`.
 */

import { CrossAttention, SelfAttention } from "./attention.ts";
import { HeadVectors } from "./headVectors.ts";
import { type HookPoint, type HookPoints, hookPoint } from "./hookPoint.ts";
import type { Mask } from "./masks.ts";
import { type Linear, layerNorm, linear, sum } from "./matrices.ts";
import type { ModelConfig } from "./modelConfig.ts";
import type { ModelMemory } from "./modelMemory.ts";
import type { Weights } from "./weights.ts";

type KeysValues = { keys: HeadVectors; values: HeadVectors };

export type LayerCache = { memory: KeysValues; own: KeysValues }; // memory empty in a decoder alone

export class EncoderLayer {
  selfAttention: SelfAttention;
  feedForward: FeedForward;
  aroundSelfAttention: Residual;
  aroundFeedForward: Residual;

  constructor(weights: Weights, path: string, config: ModelConfig, points: HookPoints) {
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

  /** @param x (S, D) */
  forward(x: Float32Array, rows: number, mask: Mask) {
    const attended = this.aroundSelfAttention.forward(x, rows, (y) =>
      this.selfAttention.forward(y, rows, mask),
    );
    return this.aroundFeedForward.forward(attended, rows, (y) => this.feedForward.forward(y, rows));
  }
}

export class DecoderLayer {
  selfAttention: SelfAttention;
  crossAttention: CrossAttention;
  feedForward: FeedForward;
  aroundSelfAttention: Residual;
  aroundCrossAttention: Residual;
  aroundFeedForward: Residual;

  constructor(weights: Weights, path: string, config: ModelConfig, points: HookPoints) {
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

  /** The keys and values of `memory` (S, D), whose mask has `rows` keys. */
  project(memory: Float32Array, rows: number): KeysValues {
    return this.crossAttention.project(memory, rows);
  }

  /** @param x (T, D) */
  forward(x: Float32Array, rows: number, memory: KeysValues, mask: Mask, memoryMask: Mask) {
    const attended = this.aroundSelfAttention.forward(x, rows, (y) =>
      this.selfAttention.forward(y, rows, mask),
    );
    return this.afterSelfAttention(attended, rows, memory, memoryMask);
  }

  /** As `forward` for one new token (1, D); earlier keys and values are in `cache`. */
  step(x: Float32Array, cache: LayerCache, memoryMask: Mask) {
    const attended = this.aroundSelfAttention.forward(x, 1, (y) =>
      this.selfAttention.step(y, cache.own),
    );
    return this.afterSelfAttention(attended, 1, cache.memory, memoryMask);
  }

  /** @param x (T, D) */
  afterSelfAttention(x: Float32Array, rows: number, memory: KeysValues, memoryMask: Mask) {
    const attended = this.aroundCrossAttention.forward(x, rows, (y) =>
      this.crossAttention.forward(y, rows, memory, memoryMask),
    );
    return this.aroundFeedForward.forward(attended, rows, (y) => this.feedForward.forward(y, rows));
  }
}

/** A layer of a decoder alone: the sublayers of the encoder, called as those of a decoder. */
export class DecoderOnlyLayer {
  sublayers: EncoderLayer;

  constructor(weights: Weights, path: string, config: ModelConfig, points: HookPoints) {
    this.sublayers = new EncoderLayer(weights, path, config, points);
  }

  project(): KeysValues {
    return { keys: new HeadVectors(0, 0, 0), values: new HeadVectors(0, 0, 0) };
  }

  forward(x: Float32Array, rows: number, _memory: KeysValues, mask: Mask) {
    return this.sublayers.forward(x, rows, mask);
  }

  step(x: Float32Array, cache: LayerCache) {
    const { aroundSelfAttention, selfAttention, aroundFeedForward, feedForward } = this.sublayers;
    const attended = aroundSelfAttention.forward(x, 1, (y) => selfAttention.step(y, cache.own));
    return aroundFeedForward.forward(attended, 1, (y) => feedForward.forward(y, 1));
  }
}

/** LayerNorm(x + Sublayer(x)) as in the paper (§3.1), or pre-norm x + Sublayer(LayerNorm(x)). */
class Residual {
  norm: {
    epsilon: number | undefined;
    weight: Float32Array;
    bias: Float32Array;
    memory: ModelMemory;
  };
  width: number;
  pre: boolean;
  input: HookPoint;
  sublayerInput: HookPoint;
  sublayerOutput: HookPoint;
  output: HookPoint;

  constructor(weights: Weights, path: string, config: ModelConfig, points: HookPoints) {
    this.norm = { ...weights.parameters(path), epsilon: config.norm_eps };
    this.width = config.d_model;
    this.pre = config.norm === "pre";
    this.input = hookPoint(points, `${path}.input`); // (L, D)
    this.sublayerInput = hookPoint(points, `${path}.sublayer_input`); // (L, D)
    this.sublayerOutput = hookPoint(points, `${path}.sublayer_output`); // (L, D)
    this.output = hookPoint(points, `${path}.output`); // (L, D)
  }

  /** @param input (L, D) */
  forward(input: Float32Array, rows: number, sublayer: (y: Float32Array) => Float32Array) {
    const { width, pre, norm } = this;
    const x = this.input.see(input, rows, width);
    const y = this.sublayerInput.see(pre ? layerNorm(x, rows, norm) : x, rows, width);
    const added = sum(x, this.sublayerOutput.see(sublayer(y), rows, width));
    return this.output.see(pre ? added : layerNorm(added, rows, norm), rows, width);
  }
}

/** Two linear maps with a ReLU between, the same at every position (§3.3, equation 2). */
class FeedForward {
  expand: Linear;
  contract: Linear;
  hidden: HookPoint;

  constructor(weights: Weights, path: string, points: HookPoints) {
    this.expand = weights.parameters(`${path}.expand`);
    this.contract = weights.parameters(`${path}.contract`);
    this.hidden = hookPoint(points, `${path}.hidden`); // (L, d_ff), after ReLU
  }

  /** @param x (L, D) */
  forward(x: Float32Array, rows: number) {
    const expanded = linear(x, rows, this.expand); // (L, d_ff)
    for (let index = 0; index < expanded.length; index++) {
      if (expanded[index] < 0) expanded[index] = 0;
    }
    this.hidden.see(expanded, rows, expanded.length / rows);
    return linear(expanded, rows, this.contract);
  }
}
