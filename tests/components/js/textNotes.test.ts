import assert from "node:assert/strict";
import { test } from "node:test";
import { missingIn } from "../../../explorer/components/live/js/initialView.ts";
import { textNote } from "../../../explorer/components/live/js/textNotes.ts";

const reader: (example: string, words?: object) => any = (example, words = {}) => ({
  symbols: [],
  longest: 128,
  examples: [{ text: example, hint: {} }],
  sourceWords: [],
  targetWords: [],
  ...words,
});
const TRANSLATOR = reader("A cat.");
const WORDS = {
  sourceWords: ["i", "the", "dog", "a", "is", "my", "see"],
  targetWords: ["je", "le", "chien", "a", "vois", "bonjour"],
};

const inBytes = (text: string) =>
  [...new TextEncoder().encode(text)].map((byte) => `<0x${byte.toString(16).toUpperCase()}>`);

const noted: (model: any, text: string, tokens?: string[]) => string = (
  model,
  text,
  tokens = text.split(" "),
) => textNote(model, text, tokens, tokens.length)?.key ?? "";

test("a text in another script, of other characters, without words or in capitals is noted", () => {
  assert.equal(noted(TRANSLATOR, "A cat."), "");
  assert.equal(noted(TRANSLATOR, "猫在睡觉。"), "note_reads_no_chinese");
  assert.equal(noted(TRANSLATOR, "猫睡觉", ["▁", ...inBytes("猫睡")]), "note_reads_no_chinese");
  assert.equal(noted(TRANSLATOR, "12345"), "note_no_word");
  assert.equal(noted(TRANSLATOR, "WHERE IS TOM?"), "note_capitals");
  assert.equal(noted(TRANSLATOR, "TV"), "");
  assert.equal(noted(reader("猫在睡觉。"), "I like tea."), "note_reads_chinese");
  const long = textNote({ ...TRANSLATOR, longest: 2 }, "A b c", ["A", "b", "c"], 3);
  assert.deepEqual(long, { key: "note_longer", facts: { most: 2 } });
});

test("characters that are read in bytes are named, four at most", () => {
  const named = (text: string) =>
    textNote(TRANSLATOR, text, ["▁", ...inBytes(text)], 3)?.facts.characters;
  assert.equal(named("😀"), "😀");
  assert.equal(named("مرحبا"), "م ر ح ب …");
  assert.equal(named("שלום"), "ש ל ו ם");
  const among = textNote(TRANSLATOR, "A cat 我 runs.", ["▁A", "▁cat", "▁", ...inBytes("我")], 4);
  assert.equal(among?.facts.characters, "我");
});

test("a text in the target language or of rare words is asked about", () => {
  const model = reader("A cat.", WORDS);
  assert.equal(noted(model, "I see the dog"), "");
  assert.equal(noted(model, "Je vois le chien"), "note_target_language");
  assert.equal(noted(model, "bonjour"), "note_target_language");
  assert.equal(noted(model, "ich sehe den Hund"), "note_rare_words");
  assert.equal(noted(TRANSLATOR, "ich sehe den Hund"), ""); // whose words are not known
});

test("what a view asks for and a trace has not is named", () => {
  const sites = { cross: { shape: [2, 4, 6, 8] }, encoder: { shape: [3, 4, 8, 8] } };
  assert.deepEqual(missingIn(sites, 6, { layer: 1, head: 3, step: 6, cell: [5, 7] }), []);
  const all = { layer: 9, head: 77, step: 99, cell: [6, 0] as [number, number] };
  assert.deepEqual(missingIn(sites, 6, all), ["layer", "head", "step", "cell"]);
  assert.deepEqual(missingIn(sites, 6, { step: 0 }), ["step"]); // they count from 1
  assert.deepEqual(missingIn(sites, 6, { site: "encoder", layer: 2, head: null }), []);
});
