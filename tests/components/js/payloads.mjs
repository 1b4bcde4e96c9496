/** Payloads and traces for the unit tests. */

/** @import { Site, Trace } from "../../../explorer/components/shared/js/trace.js" */

/** @type {Record<string, (buffer: ArrayBuffer, start: number, length: number) => Uint8Array | Uint16Array | Uint32Array | Float32Array>} */
const VIEWS = {
  uint8: (buffer, start, length) => new Uint8Array(buffer, start, length),
  uint16: (buffer, start, length) => new Uint16Array(buffer, start, length),
  uint32: (buffer, start, length) => new Uint32Array(buffer, start, length),
  float32: (buffer, start, length) => new Float32Array(buffer, start, length),
};
const BYTES = { uint8: 1, uint16: 2, uint32: 4, float32: 4 };

/**
 * Pack a payload as `shared/payload.py` does.
 * @param {object} header
 * @param {Record<string, [keyof typeof BYTES, ArrayLike<number>]>} arrays type and numbers
 */
export function packPayload(header, arrays) {
  let size = 0;
  const index = Object.fromEntries(
    Object.entries(arrays).map(([name, [type, numbers]]) => {
      const start = size;
      size += Math.ceil((numbers.length * BYTES[type]) / 4) * 4;
      return [name, { type, start, length: numbers.length }];
    }),
  );
  const encoded = new TextEncoder().encode(JSON.stringify({ ...header, arrays: index }));
  const headerSize = Math.ceil(encoded.length / 4) * 4;
  const bytes = new Uint8Array(4 + headerSize + size).fill(32);
  new DataView(bytes.buffer).setUint32(0, headerSize, true);
  bytes.set(encoded, 4);
  for (const [name, [type, numbers]] of Object.entries(arrays)) {
    VIEWS[type](bytes.buffer, 4 + headerSize + index[name].start, numbers.length).set(numbers);
  }
  return bytes;
}

/** A header of a trace with one cross-attention of 2 rows and 3 keys, for `readTrace`. */
export const HEADER = {
  source: ["7", "3", "<eos>"],
  target: ["<bos>", "3"],
  predicted: ["3", "7"],
  content: { source: [true, true, false], outputs: [true, true] },
  sites: { cross: { shape: [1, 2, 2, 3], scale: 1, packed: false, removed: [] } },
  labels: ["3", "7"],
  facts: {},
};

/** Weight codes of its two heads: the first aligns rows 0, 1 with keys 1, 0. */
export const CODES = [
  [0, 65535, 0, 65535, 0, 0],
  [21845, 21845, 21845, 0, 0, 65535],
].flat();

/**
 * A site whose heads have these codes.
 * @param {number[][]} heads
 * @param {number} keys
 * @param {Partial<Site>} [more]
 * @returns {Site}
 */
export function siteOfCodes(heads, keys, more = {}) {
  const queries = heads[0].length / keys;
  const masked = new Uint8Array(queries * keys);
  return {
    name: "cross",
    layers: 1,
    numbers: [0],
    heads: heads.length,
    queries,
    keys,
    scale: 1,
    queryTokens: Array.from({ length: queries }, (_, query) => `q${query}`),
    keyTokens: Array.from({ length: keys }, (_, key) => `k${key}`),
    weights: (_, head) => Uint16Array.from(heads[head]),
    masked: () => masked,
    removed: () => null,
    has: () => true,
    picture: (_, head) => ({ queries, keys, weights: Uint16Array.from(heads[head]), masked }),
    nameOf: () => "",
    reasons: [],
    gold: null,
    ...more,
  };
}

/**
 * A trace with some properties.
 * @param {Partial<Trace>} properties
 */
export function traceWith(properties) {
  return /** @type {Trace} */ ({
    rows: null,
    columns: null,
    words: null,
    heads: null,
    gold: null,
    prompt: 0,
    masks: [],
    fillings: [],
    sites: {},
    ...properties,
  });
}
