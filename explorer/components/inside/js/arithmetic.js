/**
 * @typedef {object} HeadVectors what the weights of one head are computed from; matrices row by row
 * @property {number} width of queries and keys
 * @property {number} scale by which products are multiplied, 1 / √width in the paper
 * @property {number | null} cap the largest score, where the model caps scores
 * @property {Float32Array} queries query × width
 * @property {Float32Array} keys key × width
 * @property {Float32Array} values key × width of the values
 * @property {Float32Array | null} bias query × key, what the model adds to the scores
 * @property {Float32Array | null} sink weight that each query gives to no key, where there is one
 *
 * @typedef {object} CellArithmetic how the weight of one cell arises (Vaswani 2017, equation 1)
 * @property {number[]} products q·k before the sum
 * @property {number} product their sum
 * @property {number} scaled the product, scaled and capped
 * @property {number} bias 0 without one
 * @property {number[]} scores of all keys of the row, before the mask
 * @property {boolean} masked whether the query may not attend to the key
 * @property {number} unmasked how many keys of the row are not masked
 * @property {number} largest score of the unmasked keys, which is taken from each before e is raised
 *   to it, so that no power is too large; −∞ where all keys are masked
 * @property {number} sum of the powers of all unmasked keys, and of the sink
 * @property {number[]} weights of the row
 * @property {number[]} value of the key
 * @property {number[]} output of the head for the query, the sum of weight × value over all keys
 */

/**
 * The arithmetic of a cell.
 * @param {HeadVectors} head
 * @param {ArrayLike<number>} masked codes of the row, 0 = unmasked
 * @param {number} query
 * @param {number} key
 * @returns {CellArithmetic}
 */
export function cellArithmetic(head, masked, query, key) {
  const { width, keys, values, bias, sink } = head;
  const count = keys.length / width;
  const products = productsOf(head, query, key);
  const product = sumOf(products);
  const scores = Array.from({ length: count }, (_, other) => scoreOf(head, query, other));
  const added = bias ? bias[query * count + key] : 0;
  const largest = Math.max(...scores.filter((_, other) => !masked[other]));
  const powers = scores.map((score, other) => (masked[other] ? 0 : Math.exp(score - largest)));
  const sum = sumOf(powers) / (1 - (sink ? sink[query] : 0));
  const weights = powers.map((power) => (sum ? power / sum : 0));
  const valueWidth = values.length / count;
  const output = Array.from({ length: valueWidth }, (_, at) =>
    sumOf(weights.map((weight, other) => weight * values[other * valueWidth + at])),
  );
  return {
    products,
    product,
    scaled: scores[key] - added,
    bias: added,
    scores,
    masked: Boolean(masked[key]),
    unmasked: powers.filter((_, other) => !masked[other]).length,
    largest,
    sum,
    weights,
    value: Array.from(values.subarray(key * valueWidth, (key + 1) * valueWidth)),
    output,
  };
}

/**
 * The score of a cell before the mask.
 * @param {HeadVectors} head
 * @param {number} query
 * @param {number} key
 */
function scoreOf(head, query, key) {
  const { scale, cap, bias, keys, width } = head;
  const scaled = sumOf(productsOf(head, query, key)) * scale;
  const capped = cap === null ? scaled : Math.tanh(scaled / cap) * cap;
  return capped + (bias ? bias[query * (keys.length / width) + key] : 0);
}

/**
 * The products of the components of a query and a key.
 * @param {HeadVectors} head
 * @param {number} query
 * @param {number} key
 */
function productsOf({ queries, keys, width }, query, key) {
  const [own, other] = [query * width, key * width];
  return Array.from({ length: width }, (_, at) => queries[own + at] * keys[other + at]);
}

/** @param {number[]} numbers */
function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
