import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, writeAddress } from "../../../explorer/components/live/js/address.ts";
import { modelWith } from "./liveModels.ts";
import { sharedExamples } from "./sharedExamples.ts";

const models = [
  modelWith({ name: "reverse", examples: [{ text: "7 3 9", hint: {} }] }),
  modelWith({ name: "sort", examples: [{ text: "甲 乙", hint: {} }] }),
];
const languages = Object.fromEntries(["en", "zh"].map((code) => [code, { name: code, tag: code }]));

const read = (parameters: string) => readAddress(parameters, { models, languages });

const FETCH = { name: "gpt2", title: "GPT-2 small", size: "550 MB" };
const ALONE = { pair: null, reading: null }; // what a model of our own reads besides
const OWN = { source_language: "", target_language: "", chat: false };
const pairs = modelWith({ name: "pairs", library: true, pairs: true });
/** A page with a server, and a model of the library that reads pairs. */
const asked = (parameters: string) =>
  readAddress(parameters, { models: [...models, pairs], languages, server: "trace" });

test("a link opens what it opens in the app, and what is refused is named", () => {
  for (const { query, request, view, refused } of sharedExamples("address").visits) {
    const visit = read(`${new URLSearchParams(query)}`);
    const whole = { ...request, ...ALONE };
    const expected = { request: whole, view, refused, language: null };
    assert.deepEqual(visit, expected, JSON.stringify(query));
    assert.deepEqual(asked(`${new URLSearchParams(query)}`), expected, JSON.stringify(query));
  }
});

test("a link to a long text opens, one that no model reads is named", () => {
  const request = {
    model: "reverse",
    text: "x ".repeat(5000),
    pad: 1,
    forced: [],
    interventions: [],
    ...ALONE,
  };
  const visit = read(writeAddress(request, {}, "zh"));
  assert.deepEqual(visit.request, request);
  assert.deepEqual([visit.language, visit.refused], ["zh", []]);
  const longer = read(writeAddress({ ...request, text: "x".repeat(20_001) }, {}, "en"));
  assert.deepEqual(longer.refused, ["text"]);
  assert.equal(longer.request.text, "7 3 9");
});

test("a link to a model that can be fetched names it, and one to no model does not", () => {
  const data = { models, languages, server: "trace", fetches: [FETCH] };
  assert.deepEqual(readAddress("model=gpt2&head=1", data).refused, ["unfetched gpt2"]);
  assert.deepEqual(readAddress("model=gpt3", data).refused, ["model"]);
  assert.equal(readAddress("model=gpt2", data).request.model, "reverse");
});

test("with a server a link opens what a model of the library reads", () => {
  const request = {
    ...asked("model=pairs").request,
    pair: "a dog",
    reading: { source_language: "eng_Latn", target_language: "fr", chat: true },
  };
  const words = writeAddress(request, {}, "en");
  const named = Object.fromEntries(new URLSearchParams(words));
  assert.deepEqual(
    [named.pair, named.source_language, named.target_language, named.chat],
    ["a dog", "eng_Latn", "fr", "1"],
  );
  const found = asked(words);
  assert.deepEqual(found.request, request);
  assert.deepEqual(found.refused, []);
  assert.deepEqual(asked("model=pairs").request.reading, OWN);
  assert.equal(asked("model=pairs").request.pair, "");
  const written = writeAddress(asked("model=pairs").request, {}, "en");
  assert.ok(!/pair=|chat=|_language=/.test(written), written);
});

test("what a model does not read is refused and named", () => {
  const all = "pair=x&source_language=fr&target_language=de&chat=1";
  const { request, refused } = asked(`model=reverse&${all}`);
  assert.deepEqual(refused, ["pair", "source_language", "target_language", "chat"]);
  assert.deepEqual([request.pair, request.reading], [null, null]);
  const wrong = asked("model=pairs&source_language=f-r&target_language=&chat=0");
  assert.deepEqual(wrong.refused, ["source_language", "target_language", "chat"]);
  assert.deepEqual(wrong.request.reading, OWN);
});

test("a server alone has mean outputs, contributions and what heads add", () => {
  const link = "do=ablate cross.1.0 mean&shows=rollout&next=heads";
  const served = asked(link);
  assert.deepEqual(served.refused, []);
  assert.deepEqual(served.request.interventions, ["ablate cross.1.0 mean"]);
  assert.deepEqual(served.view, { shows: "rollout", next: "heads" });
  const alone = read(link);
  assert.deepEqual(alone.refused, ["do"]);
  assert.deepEqual(alone.view, {});
});
