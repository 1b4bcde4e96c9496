/**
 * Read a safetensors file: the length of its header (8 bytes, little endian), a JSON header (name →
 * dtype, shape and data_offsets of each tensor, and strings under "__metadata__"), the tensors.
 *
 * Weights are stored as float16 and computed in float32.
 */

import { ModelError } from "./modelError.ts";

export type Tensor = { dtype: string; shape: number[]; bytes: Uint8Array };

const LENGTH = 8; // bytes of the number before the header
const LARGEST_HEADER = 4 * 2 ** 20;
const OPENING_BRACE = 0x7b;
const BYTES: Record<string, number> = { U8: 1, F16: 2, F32: 4 }; // dtype → bytes of a number

let halves: Float32Array | null = null; // what `halfValues` has computed

/**
 * The tensors and the metadata of a file called `name`. Throws a `ModelError` on one that is not
 * whole or something else.
 */
export function readSafetensors(data: Uint8Array, name: string) {
  const length = headerLength(data, name);
  const header = parsedHeader(data.subarray(LENGTH, LENGTH + length), name);
  const body = data.subarray(LENGTH + length);
  const { __metadata__: metadata = {}, ...entries } = header;
  if (typeof metadata !== "object" || metadata === null) refuse(name);
  const tensors: Map<string, Tensor> = new Map();
  for (const [key, entry] of Object.entries(entries)) {
    tensors.set(key, tensorOf(entry, body) ?? refuse(name));
  }
  return { tensors, metadata };
}

/**
 * Write the numbers of a tensor into `numbers`, as float32, and return it. Throws a `ModelError` on
 * another type than float16 and float32, and on infinite numbers.
 * @param name of the file
 */
export function readFloats({ dtype, bytes }: Tensor, numbers: Float32Array, name: string) {
  if (dtype !== "F16" && dtype !== "F32") return refuse(name);
  const aligned = new Uint8Array(bytes); // typed arrays begin at a multiple of their bytes
  if (dtype === "F32") numbers.set(new Float32Array(aligned.buffer));
  else writeHalves(new Uint16Array(aligned.buffer), halfValues(), numbers);
  return areFinite(numbers) ? numbers : refuse(name);
}

/**
 * Whether all numbers are finite; a loop, because a callback for each of millions takes longer than
 * reading them.
 */
function areFinite(numbers: Float32Array) {
  for (let index = 0; index < numbers.length; index++) {
    if (!Number.isFinite(numbers[index])) return false;
  }
  return true;
}

/** @param numbers where they go */
function writeHalves(codes: Uint16Array, table: Float32Array, numbers: Float32Array) {
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

function headerLength(data: Uint8Array, name: string) {
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

function parsedHeader(
  bytes: Uint8Array,
  name: string,
): { __metadata__?: Record<string, unknown>; [tensor: string]: unknown } {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refuse(name);
  }
}

/** The tensor that an entry of the header describes; null where it describes none. */
function tensorOf(entry: unknown, body: Uint8Array): Tensor | null {
  if (typeof entry !== "object" || entry === null) return null;
  const { dtype, shape, data_offsets: offsets } = entry as Record<string, unknown>;
  if (typeof dtype !== "string" || !(dtype in BYTES)) return null;
  if (!areSizes(shape) || !areSizes(offsets) || offsets.length !== 2) return null;
  const [first, end] = offsets;
  const size = shape.reduce((product, axis) => product * axis, BYTES[dtype]);
  if (end > body.length || end - first !== size) return null;
  return { dtype, shape, bytes: body.subarray(first, end) };
}

function areSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isInteger(size) && size >= 0);
}

function refuse(name: string): never {
  throw new ModelError("damaged_checkpoint", { name });
}
