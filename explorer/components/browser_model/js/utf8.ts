/**
 * Bytes as text, "\ufffd" for each byte that is not of a character: a `TextDecoder` writes one for
 * several such bytes, SentencePiece one for each.
 */
export function decodeUtf8(bytes: readonly number[]) {
  let text = "";
  for (let place = 0; place < bytes.length; ) {
    const length = lengthOf(bytes[place]);
    const code = codeAt(bytes, place, length);
    text += String.fromCodePoint(code ?? 0xfffd);
    place += code === null ? 1 : length;
  }
  return text;
}

/** Bytes of a character that begins with `first`; 0 where none does. */
function lengthOf(first: number) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/** The code point of a character of `length` bytes at `place`; null where there is none. */
function codeAt(bytes: readonly number[], place: number, length: number) {
  if (length < 2) return length ? bytes[place] : null;
  let code = bytes[place] & (0x7f >> length);
  for (let index = 1; index < length; index++) {
    const byte = bytes[place + index];
    if (byte === undefined || byte >> 6 !== 2) return null;
    code = code * 64 + (byte & 63);
  }
  const shortest = [0, 0, 0x80, 0x800, 0x10000][length];
  const isSurrogate = code >= 0xd800 && code < 0xe000;
  return code < shortest || isSurrogate || code > 0x10ffff ? null : code;
}
