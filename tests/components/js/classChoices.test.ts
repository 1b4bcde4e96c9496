import assert from "node:assert/strict";
import { test } from "node:test";
import { keysOffered, tokensOffered } from "../../../explorer/components/player/js/classChoices.ts";

/** Candidates, the likeliest first. */
const listed: (tokens: string[], chosen: string) => any[] = (tokens, chosen) =>
  tokens.map((token) => ({ token, chosen: token === chosen }));

const trace: (source: string[], more?: object) => any = (source, more = {}) => ({
  source,
  target: [],
  header: {
    marked: false,
    sites: { cross: {} },
    content: { source: source.map((token) => token !== "<eos>") },
    ...more,
  },
});
const SOURCE = ["7", "3", "9", "1", "4", "<eos>"];

test("a class chooses among the model's token and others of the source, the likeliest first", () => {
  const offered = tokensOffered(trace(SOURCE), listed(["4", "8", "1", "c", "9"], "4"), 0);
  assert.deepEqual(offered, ["1", "4", "7", "9"]);
});

test("a short source has its end as a choice, too, and no other token of the vocabulary", () => {
  const offered = tokensOffered(trace(["1", "2", "<eos>"]), listed(["2", "c", "d", "1"], "2"), 0);
  assert.deepEqual(offered, ["1", "2", "<eos>"]);
});

test("where the model writes its end, the others are symbols of the source", () => {
  const offered = tokensOffered(trace(SOURCE), listed(["<eos>", "c", "3"], "<eos>"), 5);
  assert.deepEqual(offered, ["3", "7", "9", "<eos>"]);
});

test("a model without a source has the symbols that it has read", () => {
  const text = {
    ...trace([], { sites: { decoder: {} } }),
    target: ["<bos>", "a", "7", "b", "9"],
  };
  const offered = tokensOffered(text, listed(["5", "b", "c"], "5"), 3);
  assert.deepEqual(offered, ["5", "7", "a", "b"]);
});

test("the token that the model writes is always among them", () => {
  const offered = tokensOffered(trace(["1", "2"]), listed(["1", "2", "3", "4", "9"], "9"), 0);
  assert.deepEqual(offered, ["1", "2", "9"]); // forced: not among the likeliest
});

test("a translation, and a model that has read nothing, have the likeliest as wrong ones", () => {
  const french = listed(["▁le", "▁la", "▁un", "▁les", "▁des"], "▁le");
  const offered = tokensOffered(trace(["▁The", "▁cat", "<eos>"], { marked: true }), french, 0);
  assert.deepEqual([...offered].sort(), ["▁la", "▁le", "▁les", "▁un"]);
  const alone = tokensOffered(trace([], { sites: { decoder: {} } }), listed(["a", "b"], "a"), 0);
  assert.deepEqual(alone, ["a", "b"]);
});

test("no token is offered twice", () => {
  assert.deepEqual(tokensOffered(trace(["7", "7"]), listed(["7"], "7"), 0), ["7"]);
});

test("all keys of a short text are offered, of a long one the four with the largest weights", () => {
  const short = [0, 1, 2, 3, 5, 6];
  assert.equal(keysOffered(short, [0, 0, 0, 0, 0, 0, 0]), short);
  const weights = [0.05, 0.3, 0, 0.1, 0.02, 0.4, 0.13, 0];
  assert.deepEqual(keysOffered([0, 1, 2, 3, 4, 5, 6, 7], weights), [1, 3, 5, 6]);
});
