import assert from "node:assert/strict";
import { test } from "node:test";
import { reads, requestAfter } from "../../../explorer/components/live/js/liveModel.ts";

const model: (name: string, symbols: string[], example: string) => any = (
  name,
  symbols,
  example,
) => ({
  name,
  symbols,
  examples: [{ text: example, hint: {} }],
});
const REVERSE = model("reverse", ["1", "2", "a", "b"], "1 2 1");
const COPY = model("copy", ["1", "2", "a", "b"], "2 2 1");
const FRENCH = model("english-french", [], "I do not drink tea.");
const EARLY = model("english-french-early", [], "I see him.");
const CHINESE = model("chinese-english", [], "我爱喝茶。");

const opened: (chosen: any, before: any, text: string) => string = (chosen, before, text) =>
  requestAfter(chosen, before, text).text;

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
  assert.deepEqual(requestAfter(COPY, REVERSE, "b b").pad, 0);
});

test("a model of sentences reads words in the script of its examples", () => {
  assert.ok(reads(FRENCH, "TV"));
  assert.ok(!reads(FRENCH, "1 2 3"));
  assert.ok(!reads(FRENCH, "我爱猫"));
  assert.ok(reads(CHINESE, "我爱猫"));
});
