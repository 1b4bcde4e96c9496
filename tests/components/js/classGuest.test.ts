import assert from "node:assert/strict";
import { test } from "node:test";
import { noteOf } from "../../../explorer/components/classroom/js/ballot.ts";
import { followingOf } from "../../../explorer/components/classroom/js/following.ts";
import { placeOf, questionText } from "../../../explorer/components/classroom/js/question.ts";
import { shownCard } from "../../../explorer/components/lesson/js/classCard.ts";
import { sourceOf, wordOf } from "../../../explorer/components/live/js/hostView.ts";
import { modelWith } from "./liveModels.ts";

const KEY = "ab".repeat(32);
const MODELS = ["reverse", "copy"].map((name) =>
  modelWith({ name, examples: [{ text: "1 2", hint: {} }] }),
);
const QUERY = { model: "copy", text: "4 2 7", pad: "2", force: "1.7", step: "2", words: "1" };

const source: (query: Record<string, string>, trace?: string, able?: boolean) => any = (
  query,
  trace = KEY,
  able = true,
) => sourceOf({ query, trace }, MODELS, able);

test("a guest follows who leads, until they explore alone or the host is away", () => {
  const view: any = { query: QUERY };
  const led = { host: false, view, away: false };
  assert.equal(followingOf(null, false), "none");
  assert.equal(followingOf({ ...led, view: null }, false), "waiting");
  assert.equal(followingOf({ ...led, host: true }, false), "none");
  assert.equal(followingOf(led, false), "following");
  assert.equal(followingOf(led, true), "alone");
  assert.equal(followingOf({ ...led, away: true }, true), "away");
});

test("the browser computes what it has the model of, with padding and forced tokens", () => {
  const { request, view } = source(QUERY);
  const asked = { model: "copy", text: "4 2 7", pad: 2, forced: [[1, 7]], interventions: [] };
  assert.deepEqual(request, { ...asked, pair: null, reading: null });
  assert.deepEqual(view, { step: 2, words: true });
  assert.equal(wordOf(source(QUERY)), wordOf(source({ ...QUERY, step: "3" })));
  assert.notEqual(wordOf(source(QUERY)), wordOf(source({ ...QUERY, pad: "1" })));
});

test("the browser changes the model as the host does", () => {
  const { request } = source({ ...QUERY, do: "ablate decoder.0.0;omit positions" });
  assert.deepEqual(request.interventions, ["ablate decoder.0.0", "omit positions"]);
});

test("what the browser cannot compute is the host's trace", () => {
  const host = { key: KEY };
  assert.deepEqual(source({ ...QUERY, do: "ablate cross.0.1 mean" }), host);
  assert.deepEqual(source({ ...QUERY, model: "gpt2" }), host);
  assert.deepEqual(source({ step: "2" }), host); // an upload
  assert.deepEqual(source({ ...QUERY, pair: "a second text" }), host);
  assert.deepEqual(source({ ...QUERY, target_language: "fr" }), host);
  assert.deepEqual(source({ ...QUERY, shows: "alti" }), host);
  assert.deepEqual(source({ ...QUERY, force: "1.x" }), host);
  assert.deepEqual(source(QUERY, KEY, false), host);
  assert.equal(wordOf(host), KEY);
  assert.equal(source({ ...QUERY, model: "gpt2" }, ""), null);
});

test("a guest is told whether the vote was right, once that is revealed", () => {
  const say = (key: string, facts: any) => [key, ...Object.values(facts ?? {})].join(" ");
  const open: any = { kind: "token", answer: null, candidates: ["<eos>", "6"] };
  assert.equal(noteOf(open, null, say), "");
  assert.equal(noteOf(open, 0, say), "may_change");
  assert.equal(noteOf({ ...open, answer: 1 }, null, say), "not_voted");
  assert.equal(noteOf({ ...open, answer: 1 }, 1, say), "voted_right");
  for (const kind of ["token", "key", "card"])
    assert.equal(noteOf({ ...open, kind, answer: 1 }, 0, say), `voted_wrong_${kind} 6`);
  assert.equal(noteOf({ ...open, answer: 2 }, 0, say), "voted_wrong_all");
});

test("the question is that of the card, or of the player", () => {
  const say = (key: string, facts: any) => [key, ...Object.values(facts ?? {})].join(" ");
  const asked: any = { kind: "card", head: "L1 H2", tokens: ["<bos>", "4"], prompt: "Which key?" };
  assert.equal(questionText(asked, say), "Which key?");
  assert.equal(questionText({ ...asked, kind: "token" }, say), "asked");
  assert.equal(questionText({ ...asked, kind: "key" }, say), "asked_key L1 H2 4");
});

test("a key is told by its place where its token stands there twice", () => {
  const say = (key: string, { number }: any) => `${key} ${number}`;
  const asked = { candidates: ["4", "2", "2"], positions: [0, 1, 4] };
  const places = [0, 1, 2].map((index) => placeOf(asked, index, say));
  assert.deepEqual(places, ["", "place 2", "place 5"]);
  assert.equal(placeOf({ candidates: ["a", "a"], positions: [] }, 0, say), ""); // tokens
});

test("guests read the card that the host is at; its question is what they vote on", () => {
  const card: any = { text: "It asks.", question: "Which?", choices: ["7", "9"], right: 1 };
  const cards = [{ ...card, because: "it stands out.", problem: "" }, null];
  const lesson: any = { name: "x", title: "Query and key", cards };
  const say = (key: string, { answer, because }: any) => `${key}: ${answer}, ${because}`;
  const shown = shownCard(lesson, 0, false, say);
  const read = { title: "Query and key", number: 1, cards: 2, text: "It asks." };
  assert.deepEqual(shown?.card, { ...read, because: "" });
  const none = { head: "", tokens: [], positions: [] };
  const asked = { ...none, kind: "card", candidates: ["7", "9"], prompt: "Which?" };
  assert.deepEqual(shown?.question, { ...asked, answer: null });
  const answered = shownCard(lesson, 0, true, say);
  assert.equal(answered?.card.because, "seen: 9, it stands out.");
  assert.equal(answered?.question?.answer, 1);
  assert.equal(shownCard(lesson, 1, false, say), null); // not filled in yet
  cards[0] = { ...cards[0], question: "" };
  assert.equal(shownCard(lesson, 0, true, say)?.question, null);
  cards[0] = { ...cards[0], problem: "no such head" };
  assert.equal(shownCard(lesson, 0, false, say), null);
});
