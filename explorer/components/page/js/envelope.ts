type ArrayEntry = {
  type: "uint8" | "uint16" | "uint32" | "float32";
  start: number;
  length: number;
};

export type PayloadArray = Uint8Array | Uint16Array | Uint32Array | Float32Array;

const ARRAY_TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};

/**
 * Read a payload: a JSON header and typed arrays, in the format of `payload.py`.
 * @returns `array` is null where the payload has none
 */
export function readEnvelope<Header extends object>(
  bytes: Uint8Array,
): {
  header: Header & { arrays: Record<string, ArrayEntry> };
  array: (name: string) => PayloadArray | null;
} {
  const aligned = bytes.byteOffset % 4 ? bytes.slice() : bytes; // typed arrays must be aligned
  const buffer = aligned.buffer as ArrayBuffer;
  const size = new DataView(buffer, aligned.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(aligned.subarray(4, 4 + size)));
  const body = aligned.byteOffset + 4 + size;
  const array = (name: string) => {
    const entry: ArrayEntry | undefined = header.arrays[name];
    if (!entry) return null;
    return new ARRAY_TYPES[entry.type](buffer, body + entry.start, entry.length);
  };
  return { header, array };
}

/** Pack a header and typed arrays as `pack_payload` in `payload.py` does. */
export function packEnvelope(
  header: object,
  arrays: Record<string, PayloadArray>,
): Uint8Array<ArrayBuffer> {
  const index: Record<string, ArrayEntry> = {};
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

function typeOf(array: PayloadArray): ArrayEntry["type"] {
  const found = Object.entries(ARRAY_TYPES).find(([, kind]) => array instanceof kind);
  if (!found) throw new TypeError("no array of a payload");
  return found[0] as ArrayEntry["type"];
}

/** @param size in bytes; the multiple of 4 from it on */
function roundedUp(size: number) {
  return Math.ceil(size / 4) * 4;
}

/**
 * What names the picture of a payload in reports to the app: its last bytes, as `PictureKey.mark`.
 */
export function pictureMark(bytes: Uint8Array) {
  return Array.from(bytes.slice(-8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether two runs of bytes are equal. */
export function sameBytes(one: Uint8Array, other: Uint8Array) {
  return (
    one === other ||
    (one.length === other.length && one.every((byte, index) => byte === other[index]))
  );
}
