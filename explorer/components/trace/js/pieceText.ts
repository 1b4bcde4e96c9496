import { BYTE } from "./label.ts";

/** The text of subword pieces; bytes are joined to the characters they encode. */
export function joinedPieces(pieces: string[]) {
  const encoder = new TextEncoder();
  const bytes = pieces.flatMap((piece) => {
    const byte = BYTE.exec(piece);
    return byte ? [parseInt(byte[1], 16)] : [...encoder.encode(piece)];
  });
  return new TextDecoder().decode(new Uint8Array(bytes)).replaceAll("\u2581", " ").trim();
}
