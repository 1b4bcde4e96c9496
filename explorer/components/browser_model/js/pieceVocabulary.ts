/**
 * Text ↔ pieces of words, as SentencePiece makes them of a unigram model (Kudo & Richardson 2018,
 * arXiv 1808.06226). A character without a piece becomes its bytes.
 */

import { SPECIALS } from "../../trace/js/look.ts";
import { ModelError } from "./modelError.ts";
import { BYTE, NORMAL, type PieceModel, readPieceModel, UNKNOWN } from "./pieceModel.ts";
import { decodeUtf8 } from "./utf8.ts";
import { refuseLongText, words } from "./vocabulary.ts";

const SPACE = "▁";
const UNKNOWN_PENALTY = 10; // below the score of every piece, as in SentencePiece
const UNKNOWN_TEXT = " ⁇ ";

export class PieceVocabulary {
  model: PieceModel;
  ids: Map<string, number>; // the pieces that a text is cut into
  bytes: number[]; // the id of each byte
  lowest: number;
  longest: number;
  tokens: string[];

  /** @param proto a serialised SentencePiece model */
  constructor(proto: Uint8Array) {
    this.model = readPieceModel(proto);
    const { pieces } = this.model;
    this.ids = new Map();
    this.bytes = [];
    this.lowest = 0;
    this.longest = 1;
    pieces.forEach(({ text, score, kind }, id) => {
      if (kind === BYTE) this.bytes[byteOf(text)] = id;
      if (kind !== NORMAL) return;
      this.ids.set(text, id);
      this.lowest = Math.min(this.lowest, score);
      this.longest = Math.max(this.longest, text.length);
    });
    this.tokens = [...SPECIALS, ...pieces.slice(SPECIALS.length).map(label)];
  }

  get size() {
    return this.tokens.length;
  }

  /**
   * Ids of the pieces of `text`, without specials. Throws a `ModelError` on a text that is empty or
   * too long.
   */
  encode(text: string) {
    refuseLongText(text);
    const spaced = this.normalized(tidy(text));
    if (!spaced) throw new ModelError("empty_sentence");
    return this.bestPath(spaced);
  }

  /** The text of `ids`, specials dropped. */
  decode(ids: readonly number[]) {
    let text = "";
    let bytes: number[] = []; // bytes that no piece has followed yet
    for (const id of ids.filter((each) => each >= SPECIALS.length)) {
      const piece = this.model.pieces[id];
      if (piece.kind === BYTE) {
        bytes.push(byteOf(piece.text));
        continue;
      }
      text += decodeUtf8(bytes);
      bytes = [];
      text += piece.kind === UNKNOWN ? UNKNOWN_TEXT : this.surface(piece.text, text === "");
    }
    return text + decodeUtf8(bytes);
  }

  /** What to show for each id: the piece, its word start marked by "▁". */
  labels(ids: readonly number[]) {
    return ids.map((id) => this.tokens[id]);
  }

  /** How a piece is written in a text, whose first space was added. */
  surface(piece: string, first: boolean) {
    const { spaceFirst, spacesTrimmed } = this.model;
    const added = first && (spaceFirst || spacesTrimmed) && piece.startsWith(SPACE);
    return (added ? piece.slice(SPACE.length) : piece).replaceAll(SPACE, " ");
  }

  /** `text` with "▁" for spaces, one before the first word. */
  normalized(text: string) {
    const { spaceFirst, spacesTrimmed } = this.model;
    if (!text) return "";
    const trimmed = spacesTrimmed ? text.replace(/^ +/, "").replace(/ +/g, " ") : text;
    const spaced = (spaceFirst ? SPACE : "") + trimmed.replaceAll(" ", SPACE);
    return spacesTrimmed ? spaced.replace(/▁+$/u, "") : spaced;
  }

  /**
   * The ids of the pieces that `text` consists of with the largest sum of scores (Viterbi 1967).
   * Sums are rounded to float32 and ties go to the first found, as in SentencePiece.
   */
  bestPath(text: string) {
    const scores = new Float32Array(text.length + 1);
    const starts = new Int32Array(text.length + 1).fill(-1);
    const ends = new Int32Array(text.length + 1); // the id of the piece that ends there
    const offer = (start: number, end: number, id: number, score: number) => {
      const total = scores[start] + score;
      if (starts[end] !== -1 && total <= scores[end]) return;
      [scores[end], starts[end], ends[end]] = [total, start, id];
    };
    for (let start = 0; start < text.length; ) {
      const letter = start + characterLength(text, start);
      const last = Math.min(start + this.longest, text.length);
      for (let end = letter; end <= last; end++) {
        const id = this.ids.get(text.slice(start, end));
        if (id !== undefined) offer(start, end, id, this.model.pieces[id].score);
        else if (end === letter) offer(start, end, -1, this.lowest - UNKNOWN_PENALTY);
      }
      start = letter;
    }
    return this.idsAlong(text, starts, ends);
  }

  /**
   * The ids of the pieces on the best path, from its end to its beginning; −1 is a character
   * without a piece.
   */
  idsAlong(text: string, starts: Int32Array, ends: Int32Array) {
    const ids: number[] = [];
    for (let end = text.length; end > 0; end = starts[end]) {
      if (ends[end] >= 0) {
        ids.push(ends[end]);
      } else {
        const bytes = new TextEncoder().encode(text.slice(starts[end], end));
        ids.push(...Array.from(bytes, (byte) => this.bytes[byte]).reverse());
      }
    }
    return ids.reverse();
  }
}

/** `text` in NFC with each run of white space as one space, and "?" for half a surrogate pair. */
function tidy(text: string) {
  return words(validText(text).normalize("NFC")).join(" ");
}

/** `text` with "?" for half a surrogate pair, which UTF-8 cannot encode. */
export function validText(text: string) {
  return text.replace(/\p{Surrogate}/gu, "?");
}

/** Units of UTF-16 of the character at `start`. */
function characterLength(text: string, start: number) {
  return (text.codePointAt(start) as number) > 0xffff ? 2 : 1;
}

/** What to show for a piece: a byte that is printable ASCII as its character. */
function label({ text, kind }: { text: string; kind: number }) {
  const byte = kind === BYTE ? byteOf(text) : 0;
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : text;
}

/** @param piece such as "<0xE4>" */
function byteOf(piece: string) {
  return Number.parseInt(piece.slice(3, 5), 16);
}
