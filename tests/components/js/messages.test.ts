import assert from "node:assert/strict";
import { test } from "node:test";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.ts";
import { initialRequest, type LiveModel } from "../../../explorer/components/live/js/liveModel.ts";
import {
  errorSentence,
  hintOf,
  notSaidTwice,
  refusedSentence,
} from "../../../explorer/components/live/js/messages.ts";
import type { PageData } from "../../../explorer/components/live/js/pageData.ts";
import { ServerError } from "../../../explorer/components/live/js/serverError.ts";
import type { Trace } from "../../../explorer/components/trace/js/trace.ts";
import { modelWith } from "./liveModels.ts";

const strings = {
  live: { server_away: "No answer.", unexpected: "Not computed: {problem}" },
  errors: { empty_text: "Type a text." },
  explore: {
    note_longer: "Longer than {most}.",
    pad_choice: "Pad +{count}",
    shown_instead: "{reason} On screen is {model}.",
    shown_text: "‘{text}’",
    shown_pair: "‘{text}’ and ‘{pair}’",
    shown_padding: "{text} ({padding})",
    shown_text_of: "{reason} On screen: {text}, with {model}.",
  },
};
const OWN = modelWith({
  name: "own",
  longest: 2,
  symbols: ["1", "2"],
  examples: [
    { text: "1 2", hint: { en: "Look at 2." } },
    { text: "2 1", hint: { en: "" } },
  ],
  about: { en: "It copies." },
});
const LIBRARY = modelWith({ name: "t5", library: true, pairs: true, about: { en: "" } });
const data = { models: [OWN, LIBRARY], strings: { en: strings } } as unknown as PageData;
const served = { ...data, server: "trace" };

const hint = (model: LiveModel, text: string, notes?: string, interventions: string[] = []) => {
  const trace = { header: { source: text.split(" "), target: [], notes } } as unknown as Trace;
  return hintOf(trace, { ...initialRequest(model), text, interventions }, data, "en");
};

test("what the server has to say of a trace comes first, and what the model does last", () => {
  assert.equal(hint(OWN, "1 2", "Sinks."), "Sinks.");
  assert.equal(hint(OWN, "1 2"), "Look at 2.");
  assert.equal(hint(OWN, "2 1"), "It copies.");
  assert.equal(hint(OWN, "1 2", undefined, ["ablate cross.0.0"]), "It copies."); // it may not any longer
  assert.equal(hint(OWN, "1 1"), "It copies.");
  assert.equal(hint(OWN, "1 1 1"), "Longer than 2.");
  assert.equal(hint(LIBRARY, "a b c d e f g h i j k"), "");
});

const said = (asked: object, shown: object | null, of: PageData = served, model = LIBRARY) => {
  const request = initialRequest(model);
  const error = new ModelError("empty_text");
  const other = shown && { ...request, ...shown };
  return refusedSentence(of, "en", error, { ...request, ...asked }, other);
};

test("with a server, a refusal names the text that is shown instead", () => {
  const reason = "Type a text.";
  assert.equal(said({ text: "" }, null), reason);
  assert.equal(said({ text: "a" }, { text: "a", forced: [[1, 2]] }), reason);
  assert.equal(said({ text: "" }, { text: "a" }, data), reason);
  assert.equal(said({ text: "" }, { text: "a" }), `${reason} On screen: ‘a’, with t5.`);
  const both = `${reason} On screen: ‘a’ and ‘b’ (Pad +2), with t5.`;
  assert.equal(said({ text: "" }, { text: "a", pair: "b", pad: 2 }), both);
  assert.equal(said({}, { model: "own" }), `${reason} On screen is own.`);
  const long = said({ text: "" }, { text: "x".repeat(33) });
  assert.equal(long, `${reason} On screen: ‘${"x".repeat(32)}…’, with t5.`);
});

test("a sentence of the server is said as it is, another problem is named", () => {
  const asked = initialRequest(OWN);
  const of = (facts: object) => errorSentence(data, "en", new ModelError("", { ...facts }), asked);
  assert.equal(of({ sentence: "It cannot be opened." }), "It cannot be opened.");
  assert.equal(of({ problem: "TypeError" }), "Not computed: TypeError");
});

test("where the server does not answer, no other text is named", () => {
  const asked = initialRequest(OWN);
  const error = new ServerError("server_away");
  assert.equal(refusedSentence(served, "en", error, asked, { ...asked, text: "2" }), "No answer.");
});

test("what the model does is said once beside the introduction", () => {
  const introduction = "It copies. Step with Next.";
  assert.equal(notSaidTwice("It copies.", introduction), "");
  assert.equal(notSaidTwice("It copies. Sentences: Tatoeba", introduction), "Sentences: Tatoeba");
  assert.equal(notSaidTwice("Look at 2.", introduction), "Look at 2.");
  assert.equal(notSaidTwice("复制。句子：Tatoeba", "复制。按“下一步”。"), "句子：Tatoeba");
  assert.equal(notSaidTwice("", introduction), "");
  assert.equal(notSaidTwice("It copies.", ""), "It copies.");
});
