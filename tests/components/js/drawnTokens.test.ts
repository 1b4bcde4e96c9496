import assert from "node:assert/strict";
import { test } from "node:test";
import { sentenceOf } from "../../../explorer/components/map/js/sentence.ts";
import { candidateNote } from "../../../explorer/components/player/js/candidatesText.ts";
import {
  initialState,
  viewAfterDrawing,
} from "../../../explorer/components/trace/js/initialState.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

/** Of the token after the first row: the second most probable one. */
const SECOND = {
  "steps.step": ["uint32", [1, 1]],
  "steps.rank": ["uint32", [1, 2]],
  "steps.label": ["uint32", [1, 0]],
  "steps.id": ["uint32", [7, 3]],
  "steps.probability": ["float32", [0.75, 0.25]],
  "steps.chosen": ["uint8", [0, 1]],
  "steps.forced": ["uint8", [0, 0]],
} as Parameters<typeof packPayload>[1];

/** What the parts beside a trace of these facts read of it at the first step. */
function shown(facts: object, more: object = {}, forced = 0) {
  const arrays = { ...SECOND, "steps.forced": ["uint8", [0, forced]] } as typeof SECOND;
  const payload = packPayload(
    { ...HEADER, ...more, facts },
    { "cross.attention": ["uint16", CODES], ...arrays },
  );
  const trace = readTrace(payload);
  const say = (key: string, said: object = {}) => `${key} ${Object.values(said).join(" ")}`;
  const state = initialState(trace, { step: 1 }, {});
  return {
    trace,
    pieces: trace,
    state,
    say,
    asked: { answer: "", open: [] },
  } as unknown as TraceContext;
}

const DRAWN = { interventions: ["draw 0.8 1"] };

test("a drawn token that is not the most probable one is called drawn", () => {
  assert.match(sentenceOf(shown(DRAWN)), /next_drawn token_alone 3 .*25.* 2 7 75/);
  assert.match(sentenceOf(shown({})), /next_given/);
  assert.match(sentenceOf(shown({ ...DRAWN, given: true })), /next_given/);
  assert.match(sentenceOf(shown(DRAWN, {}, 1)), /next_forced/);
  assert.match(sentenceOf(shown(DRAWN, { prompt: 2 })), /next_prompt/);
});

test("beside drawn tokens stands at which temperature the probabilities are", () => {
  const note = (facts: object) => {
    const context = shown(facts);
    return candidateNote(context, context.trace.candidates[0]);
  };
  assert.match(note(DRAWN), /drawn_note 1 0.8/);
  assert.doesNotMatch(note({}), /drawn_note/);
});

test("drawn tokens are not guessed", () => {
  const guess = (facts: object) => initialState(shown(facts).pieces, { guess: true }, {}).guess;
  assert.equal(guess(DRAWN), null);
  assert.notEqual(guess({}), null);
});

test("from the last step, an output that is drawn anew is shown to its last step", () => {
  const before = shown({});
  const at = (step: number) => ({ ...before, state: { ...before.state, step } });
  const next = (view: object, facts: object = DRAWN) => {
    const { pieces } = shown(facts, { view });
    return { ...pieces, steps: 9 };
  };
  assert.equal(viewAfterDrawing(at(2), next({ step: 2 })).step, 9);
  assert.equal(viewAfterDrawing(at(2), next({ step: 4, suggested: true })).step, 9);
  assert.equal(viewAfterDrawing(at(1), next({ step: 1 })).step, 1);
  assert.equal(viewAfterDrawing(at(2), next({ step: 1 })).step, 1); // a link names it
  assert.equal(viewAfterDrawing(at(2), next({ step: 2 }, {})).step, 2);
  assert.equal(viewAfterDrawing(at(2), next({ step: 2 }, { ...DRAWN, text: "b" })).step, 2);
});
