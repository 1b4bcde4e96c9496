/**
 * The numbers of a model in one WebAssembly memory, and the matrix product on them, which takes most
 * of the time: several times as fast as in JavaScript, which has no vectors of numbers.
 */

import { LINEAR_CODE } from "./linearCode.ts";
import type { Parameters } from "./matrices.ts";
import { ModelError } from "./modelError.ts";

const PAGE = 2 ** 16; // bytes that a memory grows by
const NUMBER = 4; // bytes
const VECTOR = 16; // bytes; a vector is read fastest from a multiple of its size
const ROWS = 32; // that are multiplied at a time

export class ModelMemory {
  buffer: ArrayBuffer;
  multiply: (
    x: number,
    rows: number,
    inputs: number,
    weight: number,
    bias: number,
    outputs: number,
    y: number,
  ) => void;
  scratch: number;
  used: number;

  /**
   * Throws a `ModelError` in a browser without WebAssembly or its vectors.
   * @param lengths of the arrays that it will hold
   * @param widest inputs and outputs together of the widest linear map
   */
  constructor(lengths: number[], widest: number) {
    const bytes = lengths.reduce((total, length) => total + rounded(length), 0);
    const needed = bytes + ROWS * rounded(widest + VECTOR / NUMBER);
    const memory = emptyMemory(Math.ceil(needed / PAGE));
    this.buffer = memory.buffer;
    this.multiply = compiledLinear(memory);
    this.scratch = bytes; // where inputs and outputs of a product are
    this.used = 0;
  }

  /** Room for an array of one of the lengths given. */
  room(length: number) {
    const array = new Float32Array(this.buffer, this.used, length);
    this.used += rounded(length);
    return array;
  }

  /**
   * x Wᵀ + b: `rows` rows of `x` (rows, inputs) become (rows, outputs). Weight and bias are arrays
   * that `room` gave.
   */
  linear(x: Float32Array, rows: number, { weight, bias }: Parameters) {
    const inputs = x.length / rows;
    const outputs = bias.length;
    const y = new Float32Array(rows * outputs);
    for (let row = 0; row < rows; row += ROWS) {
      const together = Math.min(ROWS, rows - row);
      const taken = new Float32Array(this.buffer, this.scratch, together * inputs);
      taken.set(x.subarray(row * inputs, (row + together) * inputs));
      const to = this.scratch + rounded(taken.length);
      this.multiply(
        taken.byteOffset,
        together,
        inputs,
        weight.byteOffset,
        bias.byteOffset,
        outputs,
        to,
      );
      y.set(new Float32Array(this.buffer, to, together * outputs), row * outputs);
    }
    return y;
  }
}

/** The bytes of `length` numbers, up to a whole vector. */
function rounded(length: number) {
  return Math.ceil((length * NUMBER) / VECTOR) * VECTOR;
}

function emptyMemory(pages: number) {
  if (typeof WebAssembly === "undefined") throw new ModelError("no_webassembly");
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/** The function of `assembly/linear.ts`: addresses in its memory and numbers of rows and columns. */
type Linear = (
  x: number,
  rows: number,
  inputs: number,
  weight: number,
  bias: number,
  outputs: number,
  y: number,
) => void;

/** The compiled `assembly/linear.ts`, on `memory`. */
function compiledLinear(memory: WebAssembly.Memory): Linear {
  const code = Uint8Array.from(atob(LINEAR_CODE), (character) => character.charCodeAt(0));
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } });
    return exports.linear as Linear;
  } catch {
    throw new ModelError("no_webassembly");
  }
}
