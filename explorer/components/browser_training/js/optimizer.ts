/** One step of Adam on a batch, compiled once: its loss, gradients, clipping and update. */

import { type Array as DeviceArray, jit, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import type { ModelConfig } from "../../browser_model/js/modelConfig.ts";
import type { Settings } from "./settings.ts";
import { lossOf, type TrainingBatch, type Weights } from "./trainable.ts";

/** Weights, and the running means of their gradients and of the squares of these. */
export interface Learnt {
  weights: Weights;
  means: Weights;
  squares: Weights;
}

const EPSILON = 1e-9; // as in Python
const CLIPPED = 1e-6; // what torch adds to the norm before it divides

/** A function of weights and a batch, which it uses up: the loss and its gradients by weight. */
export function lossAndGradients(config: ModelConfig) {
  return valueAndGrad((weights: Weights, batch: TrainingBatch) => {
    const loss = lossOf(config, weights, batch);
    tree.dispose(weights);
    return loss;
  });
}

/**
 * @returns a function of what is learnt so far, a batch, and [rate / (1 − β₁ᵗ), 1 / (1 − β₂ᵗ)] of
 * step t, from 1, which uses them up: what is learnt, the loss, and the square of the norm of each
 * weight's gradient before clipping
 */
export function compileStep(config: ModelConfig, { beta1, beta2, clip }: Settings) {
  const gradients = lossAndGradients(config);
  return jit(
    (
      { weights, means, squares }: Record<keyof Learnt, Weights>,
      batch: TrainingBatch,
      factors: DeviceArray,
    ) => {
      const [loss, gradient] = gradients(tree.ref(weights), batch);
      const [rate, correction] = np.split(factors, 2).map((one) => one.reshape([]));
      const sizes = squaredNorms(gradient);
      const total = Object.values(sizes).reduce<DeviceArray>(
        (sum, size) => sum.add(size.ref),
        np.array(0),
      );
      const share = np.minimum(np.reciprocal(np.sqrt(total).add(CLIPPED)).mul(clip), 1);
      const next: Record<keyof Learnt, Weights> = { weights: {}, means: {}, squares: {} };
      for (const [name, raw] of Object.entries(gradient)) {
        const clipped = raw.mul(share.ref);
        const mean = means[name].mul(beta1).add(clipped.ref.mul(1 - beta1));
        const square = squares[name].mul(beta2).add(np.square(clipped).mul(1 - beta2));
        const size = np.sqrt(square.ref.mul(correction.ref)).add(EPSILON);
        next.weights[name] = weights[name].sub(mean.ref.mul(rate.ref).div(size));
        next.means[name] = mean;
        next.squares[name] = square;
      }
      tree.dispose([rate, correction, share]);
      return { next, loss, sizes };
    },
  );
}

function squaredNorms(gradient: Weights): Weights {
  return Object.fromEntries(
    Object.entries(gradient).map(([name, one]) => [name, np.square(one.ref).sum()]),
  );
}
