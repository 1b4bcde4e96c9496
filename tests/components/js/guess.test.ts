import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Guess,
  guessAt,
  guessKey,
  guessOn,
  guessToken,
  reveal,
  shownPrediction,
  startGuessing,
  tokenHidden,
  visibleRows,
  weightsHidden,
  withoutTally,
} from "../../../explorer/components/trace/js/guess.ts";
import { initialState } from "../../../explorer/components/trace/js/initialState.ts";
import { nameSpecials } from "../../../explorer/components/trace/js/label.ts";
import { siteOf } from "../../../explorer/components/trace/js/stepState.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const TRACE = readTrace(packPayload(HEADER, { "cross.attention": ["uint16", CODES] }));

function guessing(guess: Partial<Guess> = {}, step = 1) {
  const state = initialState(TRACE, { step, guess: true }, {});
  return { trace: TRACE, state: { ...state, guess: { ...startGuessing(step, false), ...guess } } };
}

test("while guessing, the trace opens at the first step and nothing ahead is shown", () => {
  const state = initialState(TRACE, { step: null, ahead: true, guess: true }, {});
  assert.deepEqual([state.step, state.ahead], [1, false]);
  assert.deepEqual(state.guess, startGuessing(1, false));
  assert.equal(initialState(TRACE, { step: null }, {}).guess, null);
});

test("another text goes on guessing with the same tally, hidden anew", () => {
  const before = { guess: { ...startGuessing(2, true), tokens: 2, right: 1, total: 3 } };
  const { guess } = initialState(TRACE, { step: 1 }, before);
  assert.deepEqual(guess, { ...startGuessing(1, true), right: 1, total: 3 });
  assert.deepEqual(guessOn(before.guess, 2), { ...before.guess, tokens: 1 });
});

test("the token after the current row is a question mark until it is shown", () => {
  const context = guessing();
  assert.equal(shownPrediction(context, 0), "?");
  assert.ok(tokenHidden(context, 1));
  const shown = { ...context, state: { ...context.state, ...reveal(context) } };
  assert.equal(shownPrediction(shown, 0), TRACE.predicted[0]);
  assert.ok(tokenHidden(shown, 1));
  assert.equal(reveal(shown), null);
});

test("the weights are shown first, the token after", () => {
  const context = guessing({ weightsToo: true });
  assert.ok(weightsHidden(context));
  assert.equal(visibleRows(context), 0);
  const second = { ...context, state: { ...context.state, ...reveal(context) } };
  assert.ok(!weightsHidden(second));
  assert.equal(visibleRows(second), 1);
  assert.ok(tokenHidden(second, 0));
  assert.ok(!tokenHidden({ ...second, state: { ...second.state, ...reveal(second) } }, 0));
});

test("a guess of the token counts, in whatever case it is typed, and shows the token", () => {
  const right = guessToken(guessing(), ` ${TRACE.predicted[0].toUpperCase()} `).guess;
  assert.deepEqual([right?.right, right?.total, right?.tokens], [1, 1, 1]);
  const wrong = guessToken(guessing(), "something else").guess;
  assert.deepEqual([wrong?.right, wrong?.total, wrong?.answer?.right], [0, 1, false]);
  assert.deepEqual(guessToken(guessing({ tokens: 1 }), "x"), {}); // it is on screen
});

test("the end is guessed by each of its names", () => {
  nameSpecials((key) => ({ name_bos: "start", name_eos: "end" })[key] ?? key);
  const ends = { ...TRACE, predicted: ["<eos>", ...TRACE.predicted.slice(1)] };
  const right = (given: string) =>
    guessToken({ ...guessing(), trace: ends }, given).guess?.answer?.right;
  assert.deepEqual(["end", "eos", "<eos>", " END", "start", "bos"].map(right), [
    ...[true, true, true, true],
    ...[false, false],
  ]);
});

test("a guess of a token that was set is shown and not counted", () => {
  const chosen = { token: TRACE.predicted[0], id: 4, probability: 0.1, rank: 2 };
  const forced = { ...chosen, chosen: true, forced: true, given: false, drawn: false };
  const candidates = [[forced], ...TRACE.candidates.slice(1)];
  const context = { ...guessing(), trace: { ...TRACE, candidates } };
  for (const given of [TRACE.predicted[0], "something else"]) {
    const { guess } = guessToken(context, given);
    assert.deepEqual([guess?.right, guess?.total, guess?.tokens], [0, 0, 1]);
    assert.equal(guess?.answer?.kind, "forced");
  }
});

test("a guess of the key is right where the weight is the largest", () => {
  const context = guessing({ weightsToo: true });
  const { layer, head } = context.state;
  const codes = Array.from(siteOf(context).weights(layer, head).subarray(0, 3));
  const best = codes.indexOf(Math.max(...codes));
  assert.equal(guessKey(context, best).guess?.right, 1);
  assert.equal(guessKey(context, (best + 1) % 3).guess?.right, 0);
  assert.deepEqual(guessKey(guessing(), best), {}); // it is on screen
});

test("a later step shows all that comes before it, an earlier one hides nothing again", () => {
  const guess = startGuessing(1, true);
  assert.deepEqual([guessAt(guess, 2).tokens, guessAt(guess, 2).rows], [1, 1]);
  assert.equal(guessAt({ ...guess, tokens: 2 }, 1).tokens, 2);
});

test("without its tally a guess keeps what is known", () => {
  const guess = { ...startGuessing(3, true), right: 1, total: 2 };
  assert.deepEqual(withoutTally(guess), startGuessing(3, true));
});
