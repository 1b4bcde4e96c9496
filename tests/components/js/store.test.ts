import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createScreen, createStore, untracked } from "../../../explorer/components/dom/js/store.ts";

let frames: (() => void)[] = []; // callbacks of the next animation frame

beforeEach(() => {
  frames = [];
  Object.assign(globalThis, {
    requestAnimationFrame: (callback: () => void) => frames.push(callback),
    cancelAnimationFrame: () => {},
  });
});

/** Let the next animation frame come. */
function nextFrame() {
  const due = frames;
  frames = [];
  for (const callback of due) callback();
}

test("changes within one frame are drawn once, from the latest values", () => {
  const { values, set } = createStore({ step: 1, head: 0 });
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show([() => drawn.push(values.step)]);
  nextFrame();
  set({ step: 2 });
  set({ step: 3, head: 0 });
  assert.equal(frames.length, 1);
  nextFrame();
  assert.deepEqual(drawn, [1, 3]);
  set({ step: 3 });
  assert.equal(frames.length, 0);
});

test("a view draws again when something changed that it read the last time", () => {
  const { values, set } = createStore({ shown: false, step: 1 });
  const drawn: (number | null)[] = [];
  const screen = createScreen();
  screen.show([() => drawn.push(values.shown ? values.step : null)]);
  screen.flush();
  set({ step: 2 });
  assert.equal(frames.length, 1); // the first: nothing is asked for by the step
  set({ shown: true });
  screen.flush();
  set({ step: 3 });
  screen.flush();
  set({ shown: false });
  screen.flush();
  set({ step: 4 });
  screen.flush();
  assert.deepEqual(drawn, [null, 2, 3, null]);
});

test("views draw in their order, each that a view before it made stale in the same frame", () => {
  const { values, set } = createStore({ step: 1, doubled: 0 });
  const drawn: string[] = [];
  const screen = createScreen();
  screen.show([
    () => {
      drawn.push(`step ${values.step}`);
      set({ doubled: 2 * values.step });
    },
    () => drawn.push(`doubled ${values.doubled}`),
  ]);
  nextFrame();
  set({ step: 2 });
  nextFrame();
  assert.deepEqual(drawn, ["step 1", "doubled 2", "step 2", "doubled 4"]);
});

test("a view may read several stores, and one without depending on it", () => {
  const [one, other] = [createStore({ step: 1 }), createStore({ size: 10 })];
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show([() => drawn.push(one.values.step + untracked(() => other.values.size))]);
  screen.flush();
  other.set({ size: 20 });
  screen.flush();
  one.set({ step: 2 });
  screen.flush();
  assert.deepEqual(drawn, [11, 22]);
});

test("views that are shown no more, or on a screen that has stopped, draw no more", () => {
  const { values, set } = createStore({ step: 1 });
  const drawn: string[] = [];
  const screen = createScreen();
  screen.show([() => drawn.push(`before ${values.step}`)]);
  screen.flush();
  screen.show([() => drawn.push(`after ${values.step}`)]);
  screen.flush();
  set({ step: 2 });
  screen.flush();
  screen.stop();
  set({ step: 3 });
  nextFrame();
  assert.deepEqual(drawn, ["before 1", "after 1", "after 2"]);
});

test("a state is changed by set alone, and has no other names than its own", () => {
  const { values, set } = createStore({ step: 1 });
  assert.throws(() => Object.assign(values, { step: 2 }), TypeError);
  assert.throws(() => set({ stpe: 2 } as object), /no stpe/);
  assert.deepEqual({ ...values }, { step: 1 });
});
