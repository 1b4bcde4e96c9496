/** What the weights of one head are computed from; matrices row by row. */
export interface HeadVectors {
  width: number; // of queries and keys
  scale: number; // by which products are multiplied, 1 / √width in the paper
  cap: number | null; // the largest score, where the model caps scores
  queries: Float32Array; // query × width
  keys: Float32Array; // key × width
  values: Float32Array; // key × width of the values
  bias: Float32Array | null; // query × key, what the model adds to the scores
  sink: Float32Array | null; // weight that each query gives to no key, where there is one
}

/** How the weight of one cell arises (Vaswani 2017, equation 1). */
export interface CellArithmetic {
  products: number[]; // q·k before the sum
  product: number; // their sum
  scaled: number; // the product, scaled and capped
  bias: number; // 0 without one
  scores: number[]; // of all keys of the row, before the mask
  masked: boolean; // whether the query may not attend to the key
  unmasked: number; // how many keys of the row are not masked
  /**
   * score of the unmasked keys, which is taken from each before e is raised
   * to it, so that no power is too large; −∞ where all keys are masked
   */
  largest: number;
  sum: number; // of the powers of all unmasked keys, and of the sink
  weights: number[]; // of the row
  value: number[]; // of the key
  length: number; // of the value of the key
  span: Span; // of weight × value, over all keys of the row
  output: number[]; // of the head for the query, the sum of weight × value over all keys
}

/** The least and the largest of some numbers. */
export type Span = [number, number];

/**
 * The arithmetic of a cell.
 * @param masked codes of the row, 0 = unmasked
 */
export function cellArithmetic(
  head: HeadVectors,
  masked: ArrayLike<number>,
  query: number,
  key: number,
): CellArithmetic {
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
  const value = Array.from(values.subarray(key * valueWidth, (key + 1) * valueWidth));
  const parts = Array.from(values, (one, at) => weights[Math.floor(at / valueWidth)] * one);
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
    value,
    length: Math.hypot(...value),
    span: spanOf(parts),
    output,
  };
}

/** The score of a cell before the mask. */
function scoreOf(head: HeadVectors, query: number, key: number) {
  const { scale, cap, bias, keys, width } = head;
  const scaled = sumOf(productsOf(head, query, key)) * scale;
  const capped = cap === null ? scaled : Math.tanh(scaled / cap) * cap;
  return capped + (bias ? bias[query * (keys.length / width) + key] : 0);
}

/** The products of the components of a query and a key. */
function productsOf({ queries, keys, width }: HeadVectors, query: number, key: number) {
  const [own, other] = [query * width, key * width];
  return Array.from({ length: width }, (_, at) => queries[own + at] * keys[other + at]);
}

/** Not by spreading the numbers: of a long text they are more than a call may have. */
function spanOf(numbers: number[]): Span {
  return numbers.reduce(
    ([least, most], number): Span => [Math.min(least, number), Math.max(most, number)],
    [0, 0] as Span,
  );
}

function sumOf(numbers: number[]) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
