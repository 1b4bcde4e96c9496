/**
 * The arithmetic of the model on typed arrays: matrices row by row in a `Float32Array`.
 *
 * Sums are made in the 64 bits that JavaScript computes in and rounded to float32 when stored.
 *
 * @typedef {{weight: Float32Array, bias: Float32Array}} Parameters weight (outputs, inputs)
 */

const EPSILON = 1e-5; // of LayerNorm, as in torch

/**
 * x Wᵀ + b: `rows` rows of `x` (rows, inputs) become (rows, outputs).
 *
 * Four outputs at a time share each read of `x`, and all rows share each read of the weights, which
 * is what takes the time: four rows of weights stay in the nearest cache.
 * @param {Float32Array} x
 * @param {number} rows
 * @param {Parameters} parameters
 */
export function linear(x, rows, { weight, bias }) {
  const inputs = x.length / rows;
  const outputs = bias.length;
  const y = new Float32Array(rows * outputs);
  const whole = outputs - (outputs % 4);
  for (let output = 0; output < whole; output += 4) {
    for (let row = 0; row < rows; row++) {
      fourOutputs(x, row * inputs, inputs, weight, bias, output, y, row * outputs);
    }
  }
  for (let output = whole; output < outputs; output++) {
    for (let row = 0; row < rows; row++) {
      const product = dot(x, row * inputs, weight, output * inputs, inputs);
      y[row * outputs + output] = product + bias[output];
    }
  }
  return y;
}

/**
 * The products of one row of `x` with four rows of weights, into `y`.
 * @param {Float32Array} x
 * @param {number} from where the row begins in `x`
 * @param {number} inputs
 * @param {Float32Array} weight
 * @param {Float32Array} bias
 * @param {number} output number of the first of the four
 * @param {Float32Array} y
 * @param {number} to where the row begins in `y`
 */
function fourOutputs(x, from, inputs, weight, bias, output, y, to) {
  const first = output * inputs;
  const second = first + inputs;
  const third = second + inputs;
  const fourth = third + inputs;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let input = 0; input < inputs; input++) {
    const value = x[from + input];
    a += value * weight[first + input];
    b += value * weight[second + input];
    c += value * weight[third + input];
    d += value * weight[fourth + input];
  }
  y[to + output] = a + bias[output];
  y[to + output + 1] = b + bias[output + 1];
  y[to + output + 2] = c + bias[output + 2];
  y[to + output + 3] = d + bias[output + 3];
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
 * @param {Parameters} parameters
 */
export function layerNorm(x, rows, { weight, bias }) {
  const width = bias.length;
  const y = new Float32Array(x.length);
  for (let start = 0; start < rows * width; start += width) {
    let mean = 0;
    for (let index = 0; index < width; index++) mean += x[start + index];
    mean /= width;
    let variance = 0;
    for (let index = 0; index < width; index++) variance += (x[start + index] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / width + EPSILON);
    for (let index = 0; index < width; index++) {
      y[start + index] = (x[start + index] - mean) * scale * weight[index] + bias[index];
    }
  }
  return y;
}

/**
 * The softmax of a row of `length` scores from `start`, in its place; −∞ becomes 0.
 * @param {Float32Array} scores
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
  return one.map((value, index) => value + other[index]);
}
