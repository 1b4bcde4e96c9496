import { BYTE } from "./label.js";

/**
 * The text of subword pieces; bytes are joined to the characters they encode.
 * @param {string[]} pieces
 */
export function joinedPieces(pieces) {
  const encoder = new TextEncoder();
  const bytes = pieces.flatMap((piece) => {
    const byte = BYTE.exec(piece);
    return byte ? [parseInt(byte[1], 16)] : [...encoder.encode(piece)];
  });
  return new TextDecoder().decode(new Uint8Array(bytes)).replaceAll("\u2581", " ").trim();
}
