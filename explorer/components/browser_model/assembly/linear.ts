/**
 * The matrix product of the model in AssemblyScript, which becomes WebAssembly: four float32 numbers
 * at a time. All numbers are in the memory that the module imports; addresses are in bytes.
 */

const NUMBER: usize = 4; // bytes
const VECTOR: usize = 16; // bytes of four numbers

/**
 * x Wᵀ + b: `rows` rows of x (rows, inputs) become y (rows, outputs); weight (outputs, inputs).
 *
 * Four outputs share each read of x, and all rows share each read of the weights, which is what takes
 * the time: four rows of weights stay in the nearest cache.
 */
export function linear(
  x: usize,
  rows: i32,
  inputs: i32,
  weight: usize,
  bias: usize,
  outputs: i32,
  y: usize,
): void {
  const width = usize(inputs) * NUMBER;
  const height = usize(outputs) * NUMBER;
  const whole = outputs & ~3;
  for (let output = 0; output < whole; output += 4) {
    const first = weight + usize(output) * width;
    const start = v128.load(bias + usize(output) * NUMBER);
    for (let row = 0; row < rows; row++) {
      const products = fourProducts(x + usize(row) * width, first, width);
      const to = y + usize(row) * height + usize(output) * NUMBER;
      v128.store(to, f32x4.add(products, start));
    }
  }
  for (let output = whole; output < outputs; output++) {
    const first = weight + usize(output) * width;
    const start = load<f32>(bias + usize(output) * NUMBER);
    for (let row = 0; row < rows; row++) {
      const to = y + usize(row) * height + usize(output) * NUMBER;
      store<f32>(to, product(x + usize(row) * width, first, width) + start);
    }
  }
}

/** The products of one row of x with four rows of weights from `first`, each `width` bytes. */
function fourProducts(x: usize, first: usize, width: usize): v128 {
  const second = first + width;
  const third = second + width;
  const fourth = third + width;
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let c = f32x4.splat(0);
  let d = f32x4.splat(0);
  let at: usize = 0;
  for (; at + VECTOR <= width; at += VECTOR) {
    const values = v128.load(x + at);
    a = f32x4.add(a, f32x4.mul(values, v128.load(first + at)));
    b = f32x4.add(b, f32x4.mul(values, v128.load(second + at)));
    c = f32x4.add(c, f32x4.mul(values, v128.load(third + at)));
    d = f32x4.add(d, f32x4.mul(values, v128.load(fourth + at)));
  }
  let sums = f32x4(total(a), total(b), total(c), total(d));
  for (; at < width; at += NUMBER) {
    const values = f32x4.splat(load<f32>(x + at));
    const weights = f32x4(
      load<f32>(first + at),
      load<f32>(second + at),
      load<f32>(third + at),
      load<f32>(fourth + at),
    );
    sums = f32x4.add(sums, f32x4.mul(values, weights));
  }
  return sums;
}

/** The product of two rows of `width` bytes. */
function product(one: usize, other: usize, width: usize): f32 {
  let sums = f32x4.splat(0);
  let at: usize = 0;
  for (; at + VECTOR <= width; at += VECTOR) {
    sums = f32x4.add(sums, f32x4.mul(v128.load(one + at), v128.load(other + at)));
  }
  let sum = total(sums);
  for (; at < width; at += NUMBER) sum += load<f32>(one + at) * load<f32>(other + at);
  return sum;
}

/** The sum of the four numbers of a vector. */
function total(vector: v128): f32 {
  return (
    f32x4.extract_lane(vector, 0) +
    f32x4.extract_lane(vector, 1) +
    (f32x4.extract_lane(vector, 2) + f32x4.extract_lane(vector, 3))
  );
}
