import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  computed,
  createScreen,
  createStore,
  measured,
  untracked,
  whenever,
  whenOther,
} from "../../../explorer/components/dom/js/store.ts";

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
  screen.show({ views: [() => drawn.push(values.step)] });
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
  screen.show({ views: [() => drawn.push(values.shown ? values.step : null)] });
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
  screen.show({
    views: [
      () => {
        drawn.push(`step ${values.step}`);
        set({ doubled: 2 * values.step });
      },
      () => drawn.push(`doubled ${values.doubled}`),
    ],
  });
  nextFrame();
  set({ step: 2 });
  nextFrame();
  assert.deepEqual(drawn, ["step 1", "doubled 2", "step 2", "doubled 4"]);
});

test("a view may read several stores, and one without depending on it", () => {
  const [one, other] = [createStore({ step: 1 }), createStore({ size: 10 })];
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show({ views: [() => drawn.push(one.values.step + untracked(() => other.values.size))] });
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
  screen.show({ views: [() => drawn.push(`before ${values.step}`)] });
  screen.flush();
  screen.show({ views: [() => drawn.push(`after ${values.step}`)] });
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

/** A page whose width follows from its text, and how often it was measured. */
function pageOf(text: string) {
  const page = { text, measurings: 0 };
  const look = () => {
    page.measurings += 1;
    return page.text.length;
  };
  return { page, width: measured(look) };
}

test("the page is measured when all views have drawn, and pictures have the space they leave", () => {
  const { values, set } = createStore({ text: "ab", step: 1 });
  const { page, width } = pageOf("");
  const drawn: string[] = [];
  const screen = createScreen();
  screen.show({
    pictures: [() => drawn.push(`picture ${width()}`)],
    after: [() => drawn.push(`after ${width()}`)],
    views: [
      () => drawn.push(`view ${width()}`), // before the text that it measures is written
      () => {
        page.text = values.text;
      },
      () => drawn.push(`step ${values.step}`),
    ],
  });
  nextFrame();
  assert.deepEqual(drawn, ["view 0", "step 1", "view 2", "picture 2", "after 2"]);
  set({ text: "abcd" });
  nextFrame();
  assert.deepEqual(drawn.splice(0, drawn.length).slice(5), ["view 4", "picture 4", "after 4"]);
  page.measurings = 0;
  set({ step: 2 });
  nextFrame();
  assert.deepEqual([drawn, page.measurings], [["step 2"], 1]); // the layout is the same
});

test("a page that got another size is measured first, and nothing is drawn where it has not", () => {
  const { page, width } = pageOf("ab");
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show({ views: [() => drawn.push(width())] });
  nextFrame();
  screen.measure();
  nextFrame();
  assert.deepEqual(drawn, [2]);
  page.text = "abc";
  screen.measure();
  nextFrame();
  assert.deepEqual(drawn, [2, 3]);
});

test("a layout that never rests is drawn a few times and left as it is", () => {
  const { page, width } = pageOf("");
  const screen = createScreen();
  let times = 0;
  const grow = () => {
    times += 1;
    page.text = "a".repeat(width() + 1);
  };
  screen.show({ views: [grow] });
  nextFrame();
  assert.equal(times, 5);
});

test("what nobody has followed is measured anew when it is read again", () => {
  const { values, set } = createStore({ shown: true });
  const { page, width } = pageOf("a");
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show({ views: [() => drawn.push(values.shown ? width() : 0)] });
  screen.flush();
  set({ shown: false });
  screen.flush();
  page.text = "abc";
  set({ shown: true });
  screen.flush();
  assert.deepEqual(drawn, [1, 0, 3]);
  assert.equal(width(), 3);
});

test("what is computed is worked out once for all who read it, and anew after a change", () => {
  const { values, set } = createStore({ step: 1, head: 0 });
  const { page, width } = pageOf("ab");
  let times = 0;
  const product = computed(() => {
    times += 1;
    return values.step * width();
  });
  const twice = computed(() => 2 * product());
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show({ views: [() => drawn.push(product()), () => drawn.push(twice())] });
  screen.flush();
  set({ head: 1 });
  screen.flush();
  assert.deepEqual([drawn, times], [[2, 4], 1]);
  set({ step: 2 });
  screen.flush();
  page.text = "abc";
  screen.measure();
  screen.flush();
  assert.deepEqual([drawn, times], [[2, 4, 4, 8, 6, 12], 3]);
});

test("a view that acts does so at first, and when what it looks at is another", () => {
  const { values, set } = createStore({ step: 1, hovered: false });
  const acted: boolean[] = [];
  const screen = createScreen();
  const act = () => acted.push(values.hovered);
  screen.show({ views: [whenOther(() => [Math.ceil(values.step / 2)], act)] });
  screen.flush();
  set({ hovered: true });
  screen.flush();
  set({ step: 2 });
  screen.flush();
  assert.deepEqual(acted, [false]);
  set({ step: 3 });
  screen.flush();
  assert.deepEqual(acted, [false, true]);
});

test("a question to the page that names a value is asked anew when the value is another", () => {
  const page: Record<string, number> = { one: 1, other: 2 };
  const { values, set } = createStore({ name: "one" });
  const size = measured(() => page[values.name]);
  const drawn: number[] = [];
  const screen = createScreen();
  screen.show({ views: [], after: [() => drawn.push(size())] });
  screen.flush();
  set({ name: "other" });
  nextFrame();
  assert.deepEqual(drawn, [1, 2]);
});

test("what acts whenever it changes waits for no frame, and ends with its signal", async () => {
  const { values, set } = createStore({ step: 1, head: 0 });
  const ended = new AbortController();
  const acted: number[] = [];
  whenever(() => acted.push(values.step), ended.signal);
  assert.deepEqual(acted, [1]);
  set({ step: 2 });
  set({ step: 3, head: 1 });
  await null;
  assert.deepEqual(acted, [1, 3]);
  set({ step: 4 });
  ended.abort();
  await null;
  set({ step: 5 });
  await null;
  assert.deepEqual(acted, [1, 3]);
  assert.equal(frames.length, 0);
});
