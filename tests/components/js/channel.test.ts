import assert from "node:assert/strict";
import { test } from "node:test";
import { createScreen, createStore } from "../../../explorer/components/dom/js/store.ts";
import { channel } from "../../../explorer/components/page/js/channel.ts";

Object.assign(globalThis, {
  document: new EventTarget(),
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

test("what is told is heard until the signal ends it, by its own channel alone", () => {
  const steps = channel<number>("step");
  const ended = new AbortController();
  const heard: number[] = [];
  steps.hear((step) => heard.push(step), ended.signal);
  steps.tell(3);
  channel<number>("layer").tell(4);
  ended.abort();
  steps.tell(5);
  assert.deepEqual(heard, [3]);
});

test("a view that tells something does not depend on what is read when it is heard", () => {
  const [told, read] = [createStore({ step: 1 }), createStore({ size: 10 })];
  const steps = channel<number>("tracked-step");
  const heard: number[] = [];
  steps.hear((step) => heard.push(step * read.values.size), new AbortController().signal);
  const screen = createScreen();
  screen.show({ views: [() => steps.tell(told.values.step)] });
  screen.flush();
  read.set({ size: 20 });
  screen.flush();
  told.set({ step: 2 });
  screen.flush();
  assert.deepEqual(heard, [10, 40]);
});
