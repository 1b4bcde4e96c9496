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
 * Pack a header and typed arrays as `pack_payload` in `shared/payload.py` does.
 * @param {object} header
 * @param {Record<string, PayloadArray>} arrays
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function packEnvelope(header, arrays) {
  /** @type {Record<string, ArrayEntry>} */
  const index = {};
  let size = 0;
  for (const [name, array] of Object.entries(arrays)) {
    index[name] = { type: typeOf(array), start: size, length: array.length };
    size += roundedUp(array.byteLength);
  }
  const head = new TextEncoder().encode(JSON.stringify({ ...header, arrays: index }));
  const body = 4 + roundedUp(head.length);
  const bytes = new Uint8Array(body + size);
  new DataView(bytes.buffer).setUint32(0, body - 4, true);
  bytes.fill(0x20, 4, body); // JSON may end with spaces
  bytes.set(head, 4);
  for (const [name, array] of Object.entries(arrays)) {
    const own = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    bytes.set(own, body + index[name].start);
  }
  return bytes;
}

/**
 * @param {PayloadArray} array
 * @returns {ArrayEntry["type"]}
 */
function typeOf(array) {
  const found = Object.entries(ARRAY_TYPES).find(([, kind]) => array instanceof kind);
  if (!found) throw new TypeError("no array of a payload");
  return /** @type {ArrayEntry["type"]} */ (found[0]);
}

/** @param {number} size in bytes; the multiple of 4 from it on */
function roundedUp(size) {
  return Math.ceil(size / 4) * 4;
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
