import assert from "node:assert/strict";
import { test } from "node:test";
import {
  initialRequest,
  type LiveModel,
  reads,
  requestAfter,
  requestOfText,
} from "../../../explorer/components/live/js/liveModel.ts";
import { modelWith } from "./liveModels.ts";

const model = (name: string, symbols: string[], example: string, more: Partial<LiveModel> = {}) =>
  modelWith({ name, symbols, examples: [{ text: example, hint: {} }], ...more });
const REVERSE = model("reverse", ["1", "2", "a", "b"], "1 2 1");
const COPY = model("copy", ["1", "2", "a", "b"], "2 2 1");
const FRENCH = model("english-french", [], "I do not drink tea.");
const EARLY = model("english-french-early", [], "I see him.");
const CHINESE = model("chinese-english", [], "我爱喝茶。");

const LIBRARY = { library: true, draws: false } as const;
const BERT = model("bert", [], "A [MASK] cat.", {
  ...LIBRARY,
  kind: "masked",
  mask: "[MASK]",
  pairs: true,
});
const IDS = model("llama", [], "5 6", { ...LIBRARY, kind: "ids" });
const T5 = model("t5", [], "The cat sleeps.", { ...LIBRARY, kind: "sentence" });
const TRACE = modelWith({ name: "x.trace", words: "a b", examples: [], draws: false });

const opened = (chosen: LiveModel, before: LiveModel, text: string) =>
  requestAfter(chosen, before, { text, pair: null }).text;

test("a person's own text is kept where the chosen model can read it", () => {
  assert.equal(opened(COPY, REVERSE, "a b"), "a b");
  assert.equal(opened(EARLY, FRENCH, "My dog sleeps."), "My dog sleeps.");
  assert.equal(opened(FRENCH, REVERSE, "I love my cat"), "I love my cat"); // which it refused
  assert.equal(opened(CHINESE, REVERSE, "我爱猫"), "我爱猫");
  assert.equal(opened(REVERSE, FRENCH, "1 2"), "1 2");
});

test("else the chosen model opens with its first example", () => {
  assert.equal(opened(COPY, REVERSE, "1 2 1"), "2 2 1"); // an example of the model before
  assert.equal(opened(COPY, REVERSE, "1 x"), "2 2 1");
  assert.equal(opened(FRENCH, REVERSE, "aa"), "aa");
  assert.equal(opened(FRENCH, REVERSE, "a b"), "I do not drink tea.");
  assert.equal(opened(CHINESE, FRENCH, "My dog sleeps."), "我爱喝茶。");
  assert.equal(opened(EARLY, FRENCH, ""), "I see him.");
  assert.deepEqual(requestAfter(COPY, REVERSE, { text: "b b", pair: null }).pad, 0);
});

test("a model of sentences reads words in the script of its examples", () => {
  assert.ok(reads(FRENCH, "TV"));
  assert.ok(!reads(FRENCH, "1 2 3"));
  assert.ok(!reads(FRENCH, "我爱猫"));
  assert.ok(reads(CHINESE, "我爱猫"));
});

test("a model of the library keeps the text that is of its kind", () => {
  assert.equal(opened(T5, FRENCH, "我的猫睡觉。"), "我的猫睡觉。"); // it is told no script
  assert.equal(opened(T5, BERT, "My [MASK] sleeps."), "The cat sleeps."); // a token of the other
  assert.equal(opened(BERT, T5, "My [MASK] sleeps."), "My [MASK] sleeps.");
  assert.equal(opened(BERT, T5, "My dog sleeps."), "A [MASK] cat.");
  assert.equal(opened(IDS, T5, "7 8"), "7 8");
  assert.equal(opened(IDS, T5, "My dog sleeps."), "5 6");
});

test("a trace without its model reads nothing, and the text comes back with the next model", () => {
  assert.equal(initialRequest(TRACE).text, "");
  assert.equal(opened(TRACE, FRENCH, "My dog sleeps."), "My dog sleeps.");
  assert.equal(opened(FRENCH, TRACE, "My dog sleeps."), "My dog sleeps.");
  assert.equal(opened(FRENCH, TRACE, ""), "I do not drink tea.");
  assert.ok(!reads(TRACE, "a b"));
});

test("a second text stays where the next model reads one, and how a model reads does not", () => {
  const asked = { text: "A [MASK].", pair: "A dog." };
  assert.equal(requestAfter(BERT, FRENCH, asked).pair, "A dog.");
  assert.equal(requestAfter(BERT, FRENCH, { ...asked, pair: null }).pair, "");
  assert.equal(requestAfter(T5, BERT, asked).pair, null);
  const own = { source_language: "", target_language: "", chat: false };
  assert.deepEqual(requestAfter(T5, BERT, asked).reading, own);
  assert.equal(requestAfter(FRENCH, BERT, asked).reading, null);
  const reading = { ...own, target_language: "fr" };
  const before = { ...initialRequest(BERT), pair: "A dog.", reading };
  const after = requestOfText(before, "A [MASK].");
  assert.deepEqual([after.text, after.pair, after.reading], ["A [MASK].", "A dog.", reading]);
});
