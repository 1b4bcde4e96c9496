/** A model in training: its steps, its measurements and its weights. */

import { type Array as DeviceArray, jit, numpy as np, tree } from "@jax-js/jax";
import { goldAlignment } from "../../browser_model/js/goldAlignment.ts";
import type { ModelConfig } from "../../browser_model/js/modelConfig.ts";
import { PAD } from "../../browser_model/js/vocabulary.ts";
import { compileStep, type Learnt } from "./optimizer.ts";
import { initialParameters, type Parameters } from "./parameters.ts";
import { createRandom, type Random } from "./random.ts";
import { learningRate, modelConfigOf, type Settings } from "./settings.ts";
import { type Batch, drawBatch } from "./toyTasks.ts";
import { crossEntropy, logitsOf, type Weights } from "./trainable.ts";

/** What a moment of a training says of it, as a line of `metrics.jsonl` does. */
export interface Measured {
  step: number;
  loss: number; // nats a token, of the first training sequences
  heldOut: number; // the same of sequences that are not trained on
  exact: number; // share of the latter whose greedy output is right
  gold: number[][]; // (layer, head): weight of the cross heads on the gold position
  rate: number; // of the last step
  norms: Record<string, number>; // of the last gradient, by layer
}

const EVALUATED = 512; // held-out sequences
const SEEN_EVALUATED = 128;
const GOLD_EVALUATED = 64;

export class Trainer {
  settings: Settings;
  config: ModelConfig;
  learnt: Learnt;
  step: number; // steps taken
  sizes: Record<string, number>; // squared norm of each weight's last gradient
  tokens: number; // trained on since they were last taken
  random: Random;
  seen: Batch;
  heldOut: Batch;
  take: ReturnType<typeof compileStep>;
  evaluate: Evaluation;
  decode: Evaluation; // as it decodes: a token sees those before it, whatever the mask in training
  attend: ReturnType<typeof compileAttention>;

  /** @param parameters those to begin with */
  constructor(settings: Settings, parameters?: Parameters) {
    this.settings = settings;
    this.config = modelConfigOf(settings);
    const random = createRandom(settings.seed);
    const weights = onDevice(parameters ?? initialParameters(this.config, random));
    const zeros = () => tree.map((one: DeviceArray) => np.zeros(one.shape), weights) as Weights;
    this.learnt = { weights, means: zeros(), squares: zeros() };
    this.step = 0;
    this.sizes = {};
    this.tokens = 0;
    this.random = createRandom(settings.seed + 1);
    this.seen = drawBatch(settings, SEEN_EVALUATED, createRandom(settings.seed + 1));
    this.heldOut = drawBatch(settings, EVALUATED, createRandom(settings.seed + 2));
    this.take = compileStep(this.config, settings);
    this.evaluate = compileEvaluation(this.config);
    this.decode = this.config.causal
      ? this.evaluate
      : compileEvaluation({ ...this.config, causal: true });
    this.attend = compileAttention(this.config);
  }

  /**
   * Take a step on the next batch, or on that one.
   * @returns the loss before it
   */
  advance(batch = drawBatch(this.settings, this.settings.batch, this.random)): number {
    const { beta1, beta2 } = this.settings;
    const rate = learningRate(this.settings, this.step);
    this.step += 1;
    const factors = [rate / (1 - beta1 ** this.step), 1 / (1 - beta2 ** this.step)];
    const { next, loss, sizes } = this.take(
      { ...this.learnt },
      ids(batch, "source"),
      ids(batch, "target"),
      ids(batch, "answer"),
      np.array(new Float32Array(factors)),
    );
    this.learnt = next;
    this.tokens += tokensIn(batch);
    this.sizes = Object.fromEntries(
      Object.entries(sizes).map(([name, size]) => [name, numberOf(size)]),
    );
    return numberOf(loss);
  }

  /** Measurements of the model as it is now. */
  measure(): Measured {
    const heldOut = this.evaluated(this.evaluate, this.heldOut);
    const { causal } = this.config;
    const { best } = causal ? heldOut : this.evaluated(this.decode, this.heldOut);
    return {
      step: this.step,
      loss: this.evaluated(this.evaluate, this.seen).loss,
      heldOut: heldOut.loss,
      exact: exactMatch(this.heldOut, best),
      gold: this.goldWeights(),
      rate: learningRate(this.settings, this.step - 1),
      norms: byLayer(this.sizes),
    };
  }

  /** Source and target tokens trained on since the last call, padding not counted. */
  takeTokens() {
    const { tokens } = this;
    this.tokens = 0;
    return tokens;
  }

  /** The weights as they are now. */
  parameters(): Parameters {
    return Object.fromEntries(
      Object.entries(this.learnt.weights).map(([name, one]) => {
        return [name, { shape: one.shape, data: one.ref.dataSync() as Float32Array<ArrayBuffer> }];
      }),
    );
  }

  evaluated(evaluate: Evaluation, batch: Batch) {
    const { loss, best } = evaluate(
      tree.ref(this.learnt.weights),
      ids(batch, "source"),
      ids(batch, "target"),
      ids(batch, "answer"),
    );
    return { loss: numberOf(loss), best: best.dataSync() };
  }

  /** Of the first held-out sequences: the mean of each one's mean over its symbols. */
  goldWeights(): number[][] {
    const batch = firstOf(this.heldOut, GOLD_EVALUATED);
    const patterns = this.attend(
      tree.ref(this.learnt.weights),
      ids(batch, "source"),
      ids(batch, "target"),
    );
    return patterns.map((pattern) => {
      const heads = pattern.shape[1];
      const weights = pattern.dataSync() as Float32Array;
      return Array.from({ length: heads }, (_, head) =>
        goldWeight(this.settings.task, batch, weights, heads, head),
      );
    });
  }
}

type Evaluation = ReturnType<typeof compileEvaluation>;

/**
 * A function of weights, which it uses up, and a batch: the loss, and the most probable token after
 * each of its target.
 */
function compileEvaluation(config: ModelConfig) {
  return jit((weights: Weights, source: DeviceArray, target: DeviceArray, answer: DeviceArray) => {
    const logits = logitsOf(config, weights, source, target);
    tree.dispose(weights);
    return { best: np.argmax(logits.ref, -1), loss: crossEntropy(logits, answer) };
  });
}

/** A function of weights, which it uses up, and a batch: the weights of the cross-attention. */
function compileAttention(config: ModelConfig) {
  return jit((weights: Weights, source: DeviceArray, target: DeviceArray) => {
    const cross: DeviceArray[] = [];
    logitsOf(config, weights, source, target, cross).dispose();
    tree.dispose(weights);
    return cross;
  });
}

/**
 * Share of the sequences of which each token is the most probable one after the right ones before
 * it: these, and no others, are written rightly by greedy decoding.
 */
function exactMatch({ size, width, answer }: Batch, best: ArrayLike<number>) {
  let right = 0;
  for (let row = 0; row < size; row++) {
    const own = answer.subarray(row * width, (row + 1) * width);
    if (own.every((token, at) => token === PAD || token === best[row * width + at])) right += 1;
  }
  return right / size;
}

/** @param weights (B, H, T, S) */
function goldWeight(
  task: string,
  { size, width, source, answer }: Batch,
  weights: Float32Array,
  heads: number,
  head: number,
) {
  let total = 0;
  for (let row = 0; row < size; row++) {
    const own = Array.from(source.subarray(row * width, (row + 1) * width));
    const symbols = answer.subarray(row * width, (row + 1) * width).filter(Boolean).length - 1;
    const gold = goldAlignment(task, own, symbols) ?? [];
    const start = (row * heads + head) * width * width;
    let sum = 0;
    for (let cell = 0; cell < symbols * width; cell++) sum += gold[cell] * weights[start + cell];
    total += sum / symbols;
  }
  return total / size;
}

/** The norm of each layer's gradient; other weights by their module, as in `trainer.py`. */
function byLayer(sizes: Record<string, number>) {
  const sums: Record<string, number> = {};
  for (const [name, size] of Object.entries(sizes)) {
    const parts = name.split(".");
    const layer = parts.slice(0, parts.includes("layers") ? 3 : 2).join(".");
    sums[layer] = (sums[layer] ?? 0) + size;
  }
  return Object.fromEntries(Object.entries(sums).map(([layer, sum]) => [layer, Math.sqrt(sum)]));
}

function tokensIn({ source, answer }: Batch) {
  return [source, answer].reduce((sum, ids) => sum + ids.filter((id) => id !== PAD).length, 0);
}

function firstOf({ width, source, target, answer }: Batch, size: number): Batch {
  const [first, fed, right] = [source, target, answer].map((one) => one.slice(0, size * width));
  return { size, width, source: first, target: fed, answer: right };
}

function onDevice(parameters: Parameters): Weights {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { shape, data }]) => [
      name,
      np.array(data).reshape(shape),
    ]),
  );
}

export function ids({ size, width, ...batch }: Batch, part: "source" | "target" | "answer") {
  return np.array(batch[part]).reshape([size, width]);
}

function numberOf(scalar: DeviceArray) {
  return scalar.dataSync()[0];
}
