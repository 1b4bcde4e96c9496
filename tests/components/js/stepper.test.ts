import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createStore } from "../../../explorer/components/dom/js/store.ts";
import { createStepper } from "../../../explorer/components/trace/js/stepper.ts";

/** A stepper over `count` places, from 1. */
function stepperOf(context: TestContext, count: number, at = 1) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const { values: state, set } = createStore({ at, playing: false });
  const show = (place: number) => set({ at: Math.min(place, count) });
  const stepper = createStepper({
    state,
    set,
    count: () => count,
    pace: [50, 500],
    begin: () => {
      if (state.at === count) show(1);
      return count > 1;
    },
    forward: () => {
      const before = state.at;
      show(before + 1);
      return state.at > before;
    },
  });
  const pass = (time: number) => context.mock.timers.tick(time);
  return { ...stepper, state, pass };
}

test("playing shows one place after the other, and pauses at the last one", (context) => {
  const { state, play, pass } = stepperOf(context, 3);
  play();
  assert.deepEqual({ ...state }, { at: 1, playing: true });
  pass(500);
  assert.equal(state.at, 2);
  pass(1000);
  assert.deepEqual({ ...state }, { at: 3, playing: false });
});

test("at the last place, playing begins anew", (context) => {
  const { state, play } = stepperOf(context, 3, 3);
  play();
  assert.deepEqual({ ...state }, { at: 1, playing: true });
});

test("all places together take six seconds, within the paces", (context) => {
  const { state, play, pass } = stepperOf(context, 60); // 100 ms a place
  play();
  pass(99);
  assert.equal(state.at, 1);
  pass(1);
  assert.equal(state.at, 2);
  play();
});

test("many places are not played faster than the least pace", (context) => {
  const { state, play, pass } = stepperOf(context, 6000);
  play();
  pass(100);
  assert.equal(state.at, 3);
});

test("playing again, and a step by hand, end it", (context) => {
  const { state, play, next, pass } = stepperOf(context, 10);
  play();
  play();
  assert.equal(state.playing, false);
  play();
  next();
  assert.deepEqual({ ...state }, { at: 2, playing: false });
  pass(5000);
  assert.equal(state.at, 2);
});

test("what has nothing to play stays at rest", (context) => {
  const { state, play } = stepperOf(context, 1);
  play();
  assert.equal(state.playing, false);
});
