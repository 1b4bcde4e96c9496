/**
 * The fields of a protocol buffer message, by its wire format: varints, fixed 32 and 64 bits, and
 * runs of bytes, which are texts or messages themselves.
 */

export type Field = number | Uint8Array;

/**
 * Number and value of each field, in order; a number of 64 bits is not exact. Throws a `RangeError`
 * on bytes that are no message.
 */
export function* messageFields(bytes: Uint8Array): Generator<[number, Field]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let place = 0;

  function varint() {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = view.getUint8(place++);
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new RangeError("A varint has no end.");
  }

  function run(length: number) {
    if (place + length > bytes.length) throw new RangeError("A field has no end.");
    place += length;
    return bytes.subarray(place - length, place);
  }

  while (place < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield [number, varint()];
    else if (wire === 1) yield [number, run(8)];
    else if (wire === 2) yield [number, run(varint())];
    else if (wire === 5)
      yield [number, new DataView(new Uint8Array(run(4)).buffer).getFloat32(0, true)];
    else throw new RangeError("A field has no type.");
  }
}
