/**
 * The arithmetic of the model on typed arrays: matrices row by row in a `Float32Array`.
 *
 * Sums are made in the 64 bits that JavaScript computes in and rounded to float32 when stored; those
 * of a linear map in float32, by WebAssembly.
 *
 * @import { ModelMemory } from "./modelMemory.js"
 * @typedef {{weight: Float32Array, bias: Float32Array}} Parameters weight (outputs, inputs)
 * @typedef {Parameters & {memory: ModelMemory}} Linear and the memory that both are in
 * @typedef {Parameters & {epsilon?: number}} Norm and what is added to the variance, as in torch
 */

/**
 * x Wᵀ + b: `rows` rows of `x` (rows, inputs) become (rows, outputs).
 * @param {Float32Array} x
 * @param {number} rows
 * @param {Linear} parameters
 */
export function linear(x, rows, parameters) {
  return parameters.memory.linear(x, rows, parameters);
}

/**
 * The product of `length` numbers of `one` from `start` with those of `other` from `first`.
 * @param {Float32Array} one
 * @param {number} start
 * @param {Float32Array} other
 * @param {number} first
 * @param {number} length
 */
export function dot(one, start, other, first, length) {
  let sum = 0;
  for (let index = 0; index < length; index++) sum += one[start + index] * other[first + index];
  return sum;
}

/**
 * Each of the `rows` rows of `x` with mean 0 and variance 1, times the weight (D), plus the bias
 * (D): LayerNorm (Ba et al. 2016, arXiv 1607.06450).
 * @param {Float32Array} x
 * @param {number} rows
 * @param {Norm} norm
 */
export function layerNorm(x, rows, { weight, bias, epsilon = 1e-5 }) {
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

/**
 * The softmax of a row of `length` scores from `start`, in its place; −∞ becomes 0.
 * @param {Float32Array | Float64Array} scores
 * @param {number} start
 * @param {number} length
 */
export function softmax(scores, start, length) {
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

/**
 * The sum of two arrays of one length.
 * @param {Float32Array} one
 * @param {Float32Array} other
 */
export function sum(one, other) {
  const total = new Float32Array(one.length);
  for (let index = 0; index < one.length; index++) total[index] = one[index] + other[index];
  return total;
}
