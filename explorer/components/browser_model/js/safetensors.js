/**
 * Read a safetensors file: the length of its header (8 bytes, little endian), a JSON header (name →
 * dtype, shape and data_offsets of each tensor, and strings under "__metadata__"), the tensors.
 *
 * Weights are stored as float16 and computed in float32.
 *
 * @typedef {{dtype: string, shape: number[], bytes: Uint8Array}} Tensor
 */

import { ModelError } from "./modelError.js";

const LENGTH = 8; // bytes of the number before the header
const LARGEST_HEADER = 4 * 2 ** 20;
const OPENING_BRACE = 0x7b;
/** @type {Record<string, number>} dtype → bytes of a number */
const BYTES = { U8: 1, F16: 2, F32: 4 };

/** @type {Float32Array | null} what `halfValues` has computed */
let halves = null;

/**
 * The tensors and the metadata of a file called `name`. Throws a `ModelError` on one that is not
 * whole or something else.
 * @param {Uint8Array} data
 * @param {string} name
 */
export function readSafetensors(data, name) {
  const length = headerLength(data, name);
  const header = parsedHeader(data.subarray(LENGTH, LENGTH + length), name);
  const body = data.subarray(LENGTH + length);
  const { __metadata__: metadata = {}, ...entries } = header;
  if (typeof metadata !== "object" || metadata === null) refuse(name);
  /** @type {Map<string, Tensor>} */
  const tensors = new Map();
  for (const [key, entry] of Object.entries(entries)) {
    tensors.set(key, tensorOf(entry, body) ?? refuse(name));
  }
  return { tensors, metadata };
}

/**
 * Write the numbers of a tensor into `numbers`, as float32, and return it. Throws a `ModelError` on
 * another type than float16 and float32, and on infinite numbers.
 * @param {Tensor} tensor
 * @param {Float32Array} numbers
 * @param {string} name of the file
 */
export function readFloats({ dtype, bytes }, numbers, name) {
  if (dtype !== "F16" && dtype !== "F32") return refuse(name);
  const aligned = new Uint8Array(bytes); // typed arrays begin at a multiple of their bytes
  if (dtype === "F32") numbers.set(new Float32Array(aligned.buffer));
  else writeHalves(new Uint16Array(aligned.buffer), halfValues(), numbers);
  return areFinite(numbers) ? numbers : refuse(name);
}

/**
 * Whether all numbers are finite; a loop, because a callback for each of millions takes longer than
 * reading them.
 * @param {Float32Array} numbers
 */
function areFinite(numbers) {
  for (let index = 0; index < numbers.length; index++) {
    if (!Number.isFinite(numbers[index])) return false;
  }
  return true;
}

/**
 * @param {Uint16Array} codes
 * @param {Float32Array} table
 * @param {Float32Array} numbers where they go
 */
function writeHalves(codes, table, numbers) {
  for (let index = 0; index < codes.length; index++) numbers[index] = table[codes[index]];
}

/** The values of all float16 numbers (IEEE 754 binary16), by their bits. */
function halfValues() {
  if (halves) return halves;
  halves = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    if (exponent === 0) return sign * 2 ** -14 * fraction;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * 2 ** (exponent - 15) * (1 + fraction);
  });
  return halves;
}

/**
 * @param {Uint8Array} data
 * @param {string} name
 */
function headerLength(data, name) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const length = data.length > LENGTH ? Number(view.getBigUint64(0, true)) : 0;
  if (length < 2 || length > data.length - LENGTH || data[LENGTH] !== OPENING_BRACE) {
    const pickled = (data[0] === 0x50 && data[1] === 0x4b) || data[0] === 0x80; // zip or pickle
    throw new ModelError(pickled ? "is_pickle" : "damaged_checkpoint", { name });
  }
  if (length > LARGEST_HEADER) {
    const [size, limit] = [length, LARGEST_HEADER].map((bytes) => Math.floor(bytes / 2 ** 20));
    throw new ModelError("header_too_large", { name, size, limit });
  }
  return length;
}

/**
 * @param {Uint8Array} bytes
 * @param {string} name
 * @returns {{__metadata__?: Record<string, unknown>, [tensor: string]: unknown}}
 */
function parsedHeader(bytes, name) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refuse(name);
  }
}

/**
 * The tensor that an entry of the header describes; null where it describes none.
 * @param {unknown} entry
 * @param {Uint8Array} body
 * @returns {Tensor | null}
 */
function tensorOf(entry, body) {
  if (typeof entry !== "object" || entry === null) return null;
  const { dtype, shape, data_offsets: offsets } = /** @type {Record<string, unknown>} */ (entry);
  if (typeof dtype !== "string" || !(dtype in BYTES)) return null;
  if (!areSizes(shape) || !areSizes(offsets) || offsets.length !== 2) return null;
  const [first, end] = offsets;
  const size = shape.reduce((product, axis) => product * axis, BYTES[dtype]);
  if (end > body.length || end - first !== size) return null;
  return { dtype, shape, bytes: body.subarray(first, end) };
}

/**
 * @param {unknown} value
 * @returns {value is number[]}
 */
function areSizes(value) {
  return Array.isArray(value) && value.every((size) => Number.isInteger(size) && size >= 0);
}

/**
 * @param {string} name
 * @returns {never}
 */
function refuse(name) {
  throw new ModelError("damaged_checkpoint", { name });
}
