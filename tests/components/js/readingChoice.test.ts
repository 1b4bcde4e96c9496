import assert from "node:assert/strict";
import { test } from "node:test";
import { fillIn, type Say } from "../../../explorer/components/dom/js/sentences.ts";
import { entriesOf, summaryOf } from "../../../explorer/components/live/js/readingChoice.ts";

const SENTENCES = {
  languages: "{source} → {target}",
  own_language: "As the model says: {name}",
  any_language: "The model chooses",
};
const say: Say = (key, facts) => fillIn(SENTENCES, key, facts);
const FRENCH = { code: "fr", name: "French · fr" };
const ENGLISH = { code: "en", name: "English · en" };
const CHOICES = { languages: [ENGLISH, FRENCH], source: ENGLISH, target: null, chats: false };
const OWN = { source_language: "", target_language: "", chat: false };

test("the first language of a list is the model's own choice", () => {
  const named = (side: "source" | "target") => entriesOf(CHOICES, side, say);
  assert.deepEqual(named("source"), [
    { code: "", name: "As the model says: English · en" },
    ENGLISH,
    FRENCH,
  ]);
  assert.deepEqual(named("target")[0], { code: "", name: "The model chooses" });
});

test("the button names the languages in use, and none that the model does not have", () => {
  assert.equal(summaryOf(CHOICES, OWN, say), "en → …");
  const asked = { ...OWN, source_language: "fr", target_language: "en" };
  assert.equal(summaryOf(CHOICES, asked, say), "fr → en");
  assert.equal(summaryOf(CHOICES, { ...OWN, source_language: "xx" }, say), "en → …");
});
