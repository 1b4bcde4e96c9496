/**
 * @typedef {{type: "uint8" | "uint16" | "uint32" | "float32", start: number, length: number}} ArrayEntry
 * @typedef {Uint8Array | Uint16Array | Uint32Array | Float32Array} PayloadArray
 */

const ARRAY_TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};

/**
 * Read a payload: a JSON header and typed arrays, in the format of `shared/payload.py`.
 * @template {object} Header
 * @param {Uint8Array} bytes
 * @returns {{header: Header & {arrays: Record<string, ArrayEntry>},
 *   array: (name: string) => PayloadArray | null}} `array` is null where the payload has none
 */
export function readEnvelope(bytes) {
  const aligned = bytes.byteOffset % 4 ? bytes.slice() : bytes; // typed arrays must be aligned
  const buffer = /** @type {ArrayBuffer} */ (aligned.buffer);
  const size = new DataView(buffer, aligned.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(aligned.subarray(4, 4 + size)));
  const body = aligned.byteOffset + 4 + size;
  /** @param {string} name */
  const array = (name) => {
    /** @type {ArrayEntry | undefined} */
    const entry = header.arrays[name];
    if (!entry) return null;
    return new ARRAY_TYPES[entry.type](buffer, body + entry.start, entry.length);
  };
  return { header, array };
}

/**
 * What names the picture of a payload in reports to the app: its last bytes, as `PictureKey.mark`.
 * @param {Uint8Array} bytes
 */
export function pictureMark(bytes) {
  return Array.from(bytes.slice(-8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Whether two runs of bytes are equal.
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
export function sameBytes(one, other) {
  return (
    one === other ||
    (one.length === other.length && one.every((byte, index) => byte === other[index]))
  );
}
