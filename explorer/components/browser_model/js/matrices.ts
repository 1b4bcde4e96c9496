import type { ModelMemory } from "./modelMemory.ts";

/**
 * The arithmetic of the model on typed arrays: matrices row by row in a `Float32Array`.
 *
 * Sums are made in the 64 bits that JavaScript computes in and rounded to float32 when stored; those
 * of a linear map in float32, by WebAssembly.
 */

export type Parameters = { weight: Float32Array; bias: Float32Array }; // weight (outputs, inputs)

export type Linear = Parameters & { memory: ModelMemory }; // and the memory that both are in

/** And what is added to the variance, as in torch. */
export type Norm = Parameters & { epsilon?: number };

/** x Wᵀ + b: `rows` rows of `x` (rows, inputs) become (rows, outputs). */
export function linear(x: Float32Array, rows: number, parameters: Linear) {
  return parameters.memory.linear(x, rows, parameters);
}

/** The product of `length` numbers of `one` from `start` with those of `other` from `first`. */
export function dot(
  one: Float32Array,
  start: number,
  other: Float32Array,
  first: number,
  length: number,
) {
  let sum = 0;
  for (let index = 0; index < length; index++) sum += one[start + index] * other[first + index];
  return sum;
}

/**
 * Each of the `rows` rows of `x` with mean 0 and variance 1, times the weight (D), plus the bias
 * (D): LayerNorm (Ba et al. 2016, arXiv 1607.06450).
 */
export function layerNorm(x: Float32Array, rows: number, { weight, bias, epsilon = 1e-5 }: Norm) {
  const width = bias.length;
  const y = new Float32Array(x.length);
  for (let start = 0; start < rows * width; start += width) {
    let mean = 0;
    for (let index = 0; index < width; index++) mean += x[start + index];
    mean /= width;
    let variance = 0;
    for (let index = 0; index < width; index++) variance += (x[start + index] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / width + epsilon);
    for (let index = 0; index < width; index++) {
      y[start + index] = (x[start + index] - mean) * scale * weight[index] + bias[index];
    }
  }
  return y;
}

/** The softmax of a row of `length` scores from `start`, in its place; −∞ becomes 0. */
export function softmax(scores: Float32Array | Float64Array, start: number, length: number) {
  let largest = -Infinity;
  for (let index = start; index < start + length; index++) {
    if (scores[index] > largest) largest = scores[index];
  }
  let sum = 0;
  for (let index = start; index < start + length; index++) {
    scores[index] = Math.exp(scores[index] - largest);
    sum += scores[index];
  }
  for (let index = start; index < start + length; index++) scores[index] /= sum;
}

/** The sum of two arrays of one length. */
export function sum(one: Float32Array, other: Float32Array) {
  const total = new Float32Array(one.length);
  for (let index = 0; index < one.length; index++) total[index] = one[index] + other[index];
  return total;
}
