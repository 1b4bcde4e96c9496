/**
 * A serialised SentencePiece model (sentencepiece_model.proto), as `learn_pieces` in
 * `explorer/core/sentencepiece_vocabulary.py` makes them: a unigram model with all bytes and no
 * normalisation of its own but that of spaces.
 */

import { ModelError } from "./modelError.ts";
import { type Field, messageFields } from "./protobuf.ts";
import { BOS, EOS, PAD } from "./vocabulary.ts";

type Piece = { text: string; score: number; kind: number };

export interface PieceModel {
  pieces: Piece[]; // by id
  spaceFirst: boolean; // whether a text begins with a space
  spacesTrimmed: boolean; // whether runs of spaces, and those at both ends, are removed
}

export const NORMAL = 1;
export const UNKNOWN = 2;
export const BYTE = 6;
const USER_DEFINED = 4;
const UNIGRAM = 1;

/** Numbers of fields: of a model, … */
const PIECE = 1;
const TRAINER = 2;
const NORMALIZER = 3;
/** … of what the trainer did, with the values of a model that does not say, … */
const TRAINED = { type: 3, spaceLast: 24, byteFallback: 35, bos: 41, eos: 42, pad: 43 };
/** … and of the normalisation. */
const NORMALIZED = { map: 2, spaceFirst: 3, spacesTrimmed: 4, spacesEscaped: 5 };

/** The model in `proto`. Throws a `ModelError` when it cannot be read, or is of another kind. */
export function readPieceModel(proto: Uint8Array): PieceModel {
  try {
    return pieceModel(proto);
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError("damaged_pieces"); // no message, or a piece that is not UTF-8
  }
}

function pieceModel(proto: Uint8Array) {
  const pieces = [];
  let trained: Map<number, Field> = new Map();
  let normalized: Map<number, Field> = new Map();
  for (const [number, value] of messageFields(proto)) {
    if (number === PIECE) pieces.push(readPiece(message(value)));
    else if (number === TRAINER) trained = new Map(messageFields(message(value)));
    else if (number === NORMALIZER) normalized = new Map(messageFields(message(value)));
  }
  refuseOtherIds(trained);
  const map = normalized.get(NORMALIZED.map);
  const ordinary =
    (trained.get(TRAINED.type) ?? UNIGRAM) === UNIGRAM &&
    trained.get(TRAINED.byteFallback) === 1 &&
    !trained.get(TRAINED.spaceLast) &&
    !(map instanceof Uint8Array && map.length) &&
    normalized.get(NORMALIZED.spacesEscaped) !== 0 &&
    pieces.every(({ kind }) => kind !== USER_DEFINED);
  if (!ordinary) throw new ModelError("unusual_pieces");
  return {
    pieces,
    spaceFirst: normalized.get(NORMALIZED.spaceFirst) !== 0,
    spacesTrimmed: normalized.get(NORMALIZED.spacesTrimmed) !== 0,
  };
}

function readPiece(bytes: Uint8Array): Piece {
  const fields = new Map(messageFields(bytes));
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return {
    text: text.decode(message(fields.get(1) ?? new Uint8Array())),
    score: Number(fields.get(2) ?? 0),
    kind: Number(fields.get(3) ?? NORMAL),
  };
}

/**
 * Throws a `ModelError` unless padding, beginning and end have the ids of all vocabularies here.
 */
function refuseOtherIds(trained: Map<number, Field>) {
  /** Field, and its value in a model that does not say. */
  const fields: [number, number][] = [
    [TRAINED.pad, -1],
    [TRAINED.bos, 1],
    [TRAINED.eos, 2],
  ];
  const got = fields.map(([field, standard]) => Number(trained.get(field) ?? standard));
  const expected = [PAD, BOS, EOS];
  if (got.some((id, index) => id !== expected[index])) {
    throw new ModelError("foreign_pieces", { got: `(${got.join(", ")})`, expected: "(0, 1, 2)" });
  }
}

function message(value: Field) {
  if (value instanceof Uint8Array) return value;
  throw new RangeError("A field has another type.");
}
