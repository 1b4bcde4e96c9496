import assert from "node:assert/strict";
import { test } from "node:test";
import { missingIn } from "../../../explorer/components/live/js/initialView.ts";
import { textNote } from "../../../explorer/components/live/js/textNotes.ts";
import { isSpecial } from "../../../explorer/components/trace/js/label.ts";
import { modelWith } from "./liveModels.ts";
import { sharedExamples } from "./sharedExamples.ts";

interface Described {
  example: string;
  longest?: number;
  usual?: number;
  symbols?: string[];
  source?: string[];
  target?: string[];
}

interface Examples {
  models: Record<string, Described>;
  notes: { model: string; text: string; tokens: string[]; note: string | null; facts?: object }[];
}

const { models, notes }: Examples = sharedExamples("text_note");

test("a text that a model was not trained for is noted as in the app", () => {
  for (const { model, text, tokens, note, facts = {} } of notes) {
    const { example, longest = 128, usual = 0, symbols = [] } = models[model];
    const { source = [], target = [] } = models[model];
    const words = { sourceWords: source, targetWords: target };
    const own = { symbols, longest, usual, examples: [{ text: example, hint: {} }], ...words };
    const length = tokens.filter((token) => !isSpecial(token)).length;
    const found = textNote(modelWith(own), text, tokens, length);
    assert.deepEqual(found, note && { key: `note_${note}`, facts }, text);
  }
});

test("what a view asks for and a trace has not is named", () => {
  const sites = { cross: { shape: [2, 4, 6, 8] }, encoder: { shape: [3, 4, 8, 8] } };
  assert.deepEqual(missingIn(sites, 6, { layer: 1, head: 3, step: 6, cell: [5, 7] }), []);
  const all = { layer: 9, head: 77, step: 99, cell: [6, 0] as [number, number] };
  assert.deepEqual(missingIn(sites, 6, all), ["layer", "head", "step", "cell"]);
  assert.deepEqual(missingIn(sites, 6, { step: 0 }), ["step"]); // they count from 1
  assert.deepEqual(missingIn(sites, 6, { site: "encoder", layer: 2, head: null }), []);
});
