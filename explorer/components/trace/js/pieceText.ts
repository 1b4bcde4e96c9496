import { BYTE, isSpecial } from "./label.ts";

/** The text of subword pieces; bytes are joined to the characters they encode. */
export function joinedPieces(pieces: string[]) {
  const encoder = new TextEncoder();
  const bytes = pieces.flatMap((piece) => {
    const byte = BYTE.exec(piece);
    return byte ? [parseInt(byte[1], 16)] : [...encoder.encode(piece)];
  });
  return new TextDecoder().decode(new Uint8Array(bytes)).replaceAll("\u2581", " ").trim();
}

/**
 * Tokens as a person types them: symbols separated by spaces, subword pieces and bytes joined.
 * @param pieces whether they are subword pieces
 */
export function plainText(tokens: string[], pieces: boolean) {
  const content = tokens.filter((token) => !isSpecial(token));
  return pieces ? joinedPieces(content) : content.join(" ");
}
