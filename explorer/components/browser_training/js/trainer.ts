/** A model in training: its steps, its measurements and its weights. */

import { type Array as DeviceArray, jit, numpy as np, tree } from "@jax-js/jax";
import type { ModelConfig } from "../../browser_model/js/modelConfig.ts";
import { PAD } from "../../browser_model/js/vocabulary.ts";
import {
  type ContinuedNumbers,
  continuedNumbers,
  exactMatch,
  goldWeights,
  meanLoss,
  type Pattern,
  type Sequence,
  sequencesOf,
} from "./measurements.ts";
import { compileStep, type Learnt } from "./optimizer.ts";
import { initialParameters, type Parameters } from "./parameters.ts";
import { createRandom, type Random } from "./random.ts";
import { learningRate, modelConfigOf, type Settings } from "./settings.ts";
import { type Batch, drawBatch } from "./toyTasks.ts";
import { type Fed, logitsOf, lossesOf, type TrainingBatch, type Weights } from "./trainable.ts";

/** What a moment of a training says of it, as a line of `metrics.jsonl` does. */
export interface Measured extends Partial<ContinuedNumbers> {
  step: number;
  loss: number; // nats a token, of the first training sequences
  heldOut: number; // the same of sequences that are not trained on
  exact: number; // share of the latter whose greedy output is right
  gold: number[][]; // (layer, head): weight on the gold positions
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
  sequences: Sequence[]; // the held-out ones
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
    this.sequences = sequencesOf(settings.task, this.heldOut);
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
      asked(batch),
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
    const some = this.sequences.slice(0, GOLD_EVALUATED);
    const patterns = this.patterns();
    return {
      step: this.step,
      loss: meanLoss(this.seen, this.evaluated(this.evaluate, this.seen).losses),
      heldOut: meanLoss(this.heldOut, heldOut.losses),
      exact: exactMatch(this.sequences, best),
      gold: goldWeights(some, patterns),
      ...continuedNumbers(this.settings.task, some, heldOut.losses, patterns),
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
    const { losses, best } = evaluate(tree.ref(this.learnt.weights), asked(batch));
    return { losses: losses.dataSync(), best: best.dataSync() };
  }

  /** The attention that has gold positions, of the first held-out sequences. */
  patterns(): Pattern[] {
    const batch = fed(firstOf(this.heldOut, GOLD_EVALUATED));
    return this.attend(tree.ref(this.learnt.weights), batch).map((pattern) => {
      const [, heads, , width] = pattern.shape;
      return { heads, width, weights: pattern.dataSync() };
    });
  }
}

type Evaluation = ReturnType<typeof compileEvaluation>;

/**
 * A function of weights, which it uses up, and a batch: the losses of its tokens, and the most
 * probable token after each of its target.
 */
function compileEvaluation(config: ModelConfig) {
  return jit((weights: Weights, { answer, ...batch }: TrainingBatch) => {
    const logits = logitsOf(config, weights, batch);
    tree.dispose(weights);
    return { best: np.argmax(logits.ref, -1), losses: lossesOf(logits, answer) };
  });
}

/** A function of weights, which it uses up, and a batch: what `logitsOf` captures. */
function compileAttention(config: ModelConfig) {
  return jit((weights: Weights, batch: Fed) => {
    const captured: DeviceArray[] = [];
    logitsOf(config, weights, batch, captured).dispose();
    tree.dispose(weights);
    return captured;
  });
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
  return [source ?? [], answer].flatMap((ids) => [...ids]).filter((id) => id !== PAD).length;
}

function firstOf({ width, source, target, answer }: Batch, size: number): Batch {
  const first = (ids: Int32Array<ArrayBuffer>) => ids.slice(0, size * width);
  return {
    ...{ size, width },
    source: source && first(source),
    target: first(target),
    answer: first(answer),
  };
}

function onDevice(parameters: Parameters): Weights {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { shape, data }]) => [
      name,
      np.array(data).reshape(shape),
    ]),
  );
}

/** What a model is fed. */
export function fed({ size, width, source, target }: Batch): Fed {
  const shaped = (ids: Int32Array<ArrayBuffer>) => np.array(ids).reshape([size, width]);
  return { ...(source && { source: shaped(source) }), target: shaped(target) };
}

/** The same, and what it is to write. */
export function asked(batch: Batch): TrainingBatch {
  const { size, width, answer } = batch;
  return { ...fed(batch), answer: np.array(answer).reshape([size, width]) };
}

function numberOf(scalar: DeviceArray) {
  return scalar.dataSync()[0];
}
