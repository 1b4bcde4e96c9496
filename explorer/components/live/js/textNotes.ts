/** What a reader should know of a text that one of our own models was not trained for. */

import type { Facts } from "../../dom/js/sentences.ts";
import { isSpecial } from "../../trace/js/label.ts";
import { isChinese, type LiveModel } from "./liveModel.ts";

type TextNote = { key: string; facts: Facts }; // its sentence in `strings/explore.toml`

const MOST_NAMED = 4; // characters without a piece
const CAPITALS = 4; // from so many letters on, a text in capitals is no abbreviation
const FEW_WORDS = 2; // a text of so few is judged by one word
const FAR_LONGER = 3; // times the usual length, from where a sentence ends in invention
const SENTENCE_END = /[.!?…。！？]["'”’»」)]*$/u; // of a token
const BYTE = /^<0x([0-9A-F]{2})>$/;
const UNSEEN = /[\p{Cc}\p{Cf}]/u; // control and format characters, which may turn what follows around

/**
 * The note on a text; null where there is nothing to say.
 * @param read its tokens
 * @param length tokens of its content
 */
export function textNote(
  model: LiveModel,
  text: string,
  read: string[],
  length: number,
): TextNote | null {
  const note = model.symbols.length ? null : sentenceNote(model, text, read);
  if (note) return note;
  if (length > model.longest) return noteOf("note_longer", { most: model.longest });
  const count = longestSentence(read);
  if (!model.usual || count <= FAR_LONGER * model.usual) return null;
  return noteOf("note_long_sentence", { count, usual: Math.round(model.usual) });
}

/** Tokens of the longest sentence: one among many may be as short as those of the training. */
function longestSentence(read: string[]) {
  let [longest, length] = [0, 0];
  for (const token of read) {
    if (isSpecial(token)) continue;
    length += 1;
    longest = Math.max(longest, length);
    if (SENTENCE_END.test(token)) length = 0;
  }
  return longest;
}

function sentenceNote(
  { examples, sourceWords, targetWords }: LiveModel,
  text: string,
  read: string[],
): TextNote | null {
  const own = new Set(sourceWords);
  const inBytes = [...readInBytes(read)];
  const unknown = [...new Set(inBytes)];
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const script = examples.some((example) => isChinese(example.text) === isChinese(text));
  const few = unknown.length > 0 && 2 * unknown.length < letters;
  if (/\p{L}{2}/u.test(text) && !script && !few) {
    return noteOf(isChinese(text) ? "note_reads_no_chinese" : "note_reads_chinese");
  }
  const more = unknown.length > MOST_NAMED ? " …" : "";
  const characters = unknown.slice(0, MOST_NAMED).map(nameOf).join(" ") + more;
  if (2 * inBytes.length > (text.match(/\S/gu)?.length ?? 0)) {
    return noteOf("note_nonsense", { characters });
  }
  if (inTargetLanguage(text, own, new Set(targetWords))) return noteOf("note_target_language");
  if (knowsFewWords(text, own)) return noteOf("note_rare_words");
  if (unknown.length) return noteOf("note_characters", { characters });
  if (!letters) return noteOf("note_no_word");
  const capitals = text === text.toUpperCase() && text !== text.toLowerCase();
  return letters >= CAPITALS && capitals ? noteOf("note_capitals") : null;
}

function noteOf(key: string, facts: Facts = {}) {
  return { key, facts };
}

/**
 * As `in_target_language` in `explorer/core/source_language.py`.
 * @param source frequent words
 */
function inTargetLanguage(text: string, source: Set<string>, target: Set<string>) {
  const words = wordsOf(text.toLowerCase());
  const own = words.filter((word) => source.has(word)).length;
  const other = words.filter((word) => target.has(word)).length;
  return source.size > 0 && other > own && other >= (words.length <= FEW_WORDS ? 1 : 2);
}

/**
 * As `knows_few_words` in `explorer/core/source_language.py`.
 * @param source frequent words
 */
function knowsFewWords(text: string, source: Set<string>) {
  const words = wordsOf(text);
  const known = words.filter((word) => source.has(word.toLowerCase())).length;
  const small = words.filter((word) => word === word.toLowerCase() && word !== word.toUpperCase());
  const enough = words.length > FEW_WORDS && small.length >= 2;
  return source.size > 0 && enough && 3 * known <= words.length;
}

function wordsOf(text: string) {
  return text.match(/[\p{L}\p{No}\p{Nl}]+/gu) ?? []; // Python's [^\W\d_]
}

/** The characters that stand in the tokens as single bytes. */
function* readInBytes(tokens: string[]) {
  let bytes: number[] = [];
  for (const token of [...tokens, ""]) {
    const byte = BYTE.exec(token);
    if (byte) {
      bytes.push(Number.parseInt(byte[1], 16));
    } else if (bytes.length) {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
      yield* text.replaceAll("\ufffd", "");
      bytes = [];
    }
  }
}

function nameOf(character: string) {
  if (!UNSEEN.test(character)) return character;
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase();
  return `U+${code.padStart(4, "0")}`;
}
