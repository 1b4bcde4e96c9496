/** A model in the bytes of its checkpoint file, as `explorer/model/checkpoint.py` writes them. */

import { checkedConfig } from "./modelConfig.ts";
import { ModelError } from "./modelError.ts";
import { PieceVocabulary } from "./pieceVocabulary.ts";
import { readSafetensors, type Tensor } from "./safetensors.ts";
import { Transformer } from "./transformer.ts";
import { SymbolVocabulary } from "./vocabulary.ts";
import { Weights } from "./weights.ts";

export type Vocabulary = import("./vocabulary.ts").SymbolVocabulary | PieceVocabulary;

export interface Checkpoint {
  transformer: Transformer;
  sourceVocabulary: Vocabulary;
  targetVocabulary: Vocabulary;
  facts: Record<string, unknown>; // such as task, steps, exact match
}

const MARK = "attention-explorer";
const FORMAT_VERSION = "1";
const PIECES = ["source_pieces", "target_pieces"];

/** The checkpoint in the bytes of a file called `name`. Throws a `ModelError`. */
export function readCheckpoint(data: Uint8Array, name: string): Checkpoint {
  const { tensors, metadata } = readSafetensors(data, name);
  if (metadata.format !== MARK) throw new ModelError("foreign_checkpoint", { name });
  if (metadata.version !== FORMAT_VERSION) {
    const got = String(metadata.version).slice(0, 16);
    throw new ModelError("checkpoint_version", { name, got, expected: FORMAT_VERSION });
  }
  const [config, source, target, facts] = [
    "config",
    "source_vocabulary",
    "target_vocabulary",
    "facts",
  ].map((part) => parsedObject(metadata[part], name));
  const pieces = new Map(PIECES.map((key) => [key, tensors.get(key)]));
  for (const key of PIECES) tensors.delete(key);
  const checked = checkedConfig(config);
  const sourceVocabulary = vocabularyOf(source, pieces, name);
  const same = JSON.stringify(source) === JSON.stringify(target);
  const targetVocabulary = same ? sourceVocabulary : vocabularyOf(target, pieces, name);
  refuseOtherSize(sourceVocabulary, checked.source_vocabulary, name);
  refuseOtherSize(targetVocabulary, checked.target_vocabulary, name);
  const transformer = new Transformer(checked, new Weights(checked, tensors, name));
  return { transformer, sourceVocabulary, targetVocabulary, facts };
}

function parsedObject(text: unknown, name: string): Record<string, unknown> {
  try {
    const parsed = JSON.parse(String(text));
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // refused below
  }
  throw new ModelError("damaged_facts", { name });
}

/** @param pieces the tensors with SentencePiece models */
function vocabularyOf(
  stored: Record<string, unknown>,
  pieces: Map<string, Tensor | undefined>,
  name: string,
): Vocabulary {
  if (stored.kind !== "sentencepiece") return SymbolVocabulary.fromJson(stored);
  const tensor = pieces.get(String(stored.tensor));
  if (tensor?.dtype !== "U8") throw new ModelError("damaged_checkpoint", { name });
  return new PieceVocabulary(tensor.bytes);
}

function refuseOtherSize(vocabulary: Vocabulary, expected: number, name: string) {
  const got = vocabulary.size;
  if (got === expected) return;
  throw new ModelError("mismatched_weights", { name, weight: "vocabulary", got, expected });
}
