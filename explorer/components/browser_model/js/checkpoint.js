/**
 * A model in the bytes of its checkpoint file, as `explorer/model/checkpoint.py` writes them.
 *
 * @import { Tensor } from "./safetensors.js"
 * @typedef {import("./vocabulary.js").SymbolVocabulary | PieceVocabulary} Vocabulary
 * @typedef {object} Checkpoint
 * @property {Transformer} transformer
 * @property {Vocabulary} sourceVocabulary
 * @property {Vocabulary} targetVocabulary
 * @property {Record<string, unknown>} facts such as task, steps, exact match
 */

import { checkedConfig } from "./modelConfig.js";
import { ModelError } from "./modelError.js";
import { PieceVocabulary } from "./pieceVocabulary.js";
import { readSafetensors } from "./safetensors.js";
import { Transformer } from "./transformer.js";
import { SymbolVocabulary } from "./vocabulary.js";
import { Weights } from "./weights.js";

const MARK = "attention-explorer";
const FORMAT_VERSION = "1";
const PIECES = ["source_pieces", "target_pieces"];

/**
 * The checkpoint in the bytes of a file called `name`. Throws a `ModelError`.
 * @param {Uint8Array} data
 * @param {string} name
 * @returns {Checkpoint}
 */
export function readCheckpoint(data, name) {
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

/**
 * @param {unknown} text
 * @param {string} name
 * @returns {Record<string, unknown>}
 */
function parsedObject(text, name) {
  try {
    const parsed = JSON.parse(String(text));
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // refused below
  }
  throw new ModelError("damaged_facts", { name });
}

/**
 * @param {Record<string, unknown>} stored
 * @param {Map<string, Tensor | undefined>} pieces the tensors with SentencePiece models
 * @param {string} name
 * @returns {Vocabulary}
 */
function vocabularyOf(stored, pieces, name) {
  if (stored.kind !== "sentencepiece") return SymbolVocabulary.fromJson(stored);
  const tensor = pieces.get(String(stored.tensor));
  if (tensor?.dtype !== "U8") throw new ModelError("damaged_checkpoint", { name });
  return new PieceVocabulary(tensor.bytes);
}

/**
 * @param {Vocabulary} vocabulary
 * @param {number} expected
 * @param {string} name
 */
function refuseOtherSize(vocabulary, expected, name) {
  const got = vocabulary.size;
  if (got === expected) return;
  throw new ModelError("mismatched_weights", { name, weight: "vocabulary", got, expected });
}
