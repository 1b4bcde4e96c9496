import assert from "node:assert/strict";
import { test } from "node:test";
import { createScreen, createStore } from "../../../explorer/components/dom/js/store.ts";
import { onShown } from "../../../explorer/components/page/js/classEvents.ts";
import {
  createClassMoment,
  followMoment,
} from "../../../explorer/components/training_replay/js/classMoment.ts";

const PAGE: any = new EventTarget();
PAGE.documentElement = { dataset: {} };
Object.assign(globalThis, {
  document: PAGE,
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

const RUN = {
  key: "runs/reverse-1@17",
  site: "cross",
  moments: [{ step: 25 }, { step: 50 }, { step: 75 }],
  others: [],
  report: { words: "training", problem: "", going: true },
  shared: { run: "runs/reverse-1", others: ["recorded/reverse"] },
};

/** A replay with a picture of `selected`. */
function replayOf(state: object = {}, selected: object = { site: "cross", layer: 1, head: 2 }) {
  const ended = new AbortController();
  const chosen = createStore({
    ...{ at: 2, following: true, headChosen: false, hinted: false },
    ...state,
  });
  const given = createStore({ run: RUN as object, palette: "light", picture: { state: selected } });
  const context: any = {
    state: chosen.values,
    set: chosen.set,
    give: given.set,
    signal: ended.signal,
    act: { pause: () => {} },
    choose: (head: object) => {
      context.chosen = head;
    },
  };
  Object.defineProperties(context, Object.getOwnPropertyDescriptors(given.values));
  return { context, ended };
}

/** What the host's replay says when it is drawn, and then in each frame. */
function speaker(context: any) {
  const screen = createScreen();
  screen.show({ views: createClassMoment(context).views ?? [] });
  return () => said(screen.flush);
}

/** What the page says while `act` runs. */
function said(act: () => void) {
  const details: any[] = [];
  const heard = new AbortController();
  onShown((detail) => details.push(detail), heard.signal);
  act();
  heard.abort();
  return details;
}

test("the host's replay says its run, moment and head, and when it goes", () => {
  const { context, ended } = replayOf();
  const frame = speaker(context);
  const [first] = frame();
  const { revision, ...training } = first.training;
  assert.ok(revision > 0);
  const newest = { moment: null, site: "cross", layer: null, head: null };
  assert.deepEqual(training, { run: "runs/reverse-1", others: ["recorded/reverse"], ...newest });
  context.set({ at: 0, headChosen: true });
  const [second] = frame();
  const chosen = { moment: 25, site: "cross", layer: 1, head: 2 };
  assert.deepEqual(second.training, { ...first.training, ...chosen });
  context.give({ palette: "dark" });
  assert.deepEqual(frame(), []);
  assert.deepEqual(
    said(() => ended.abort()),
    [null],
  );
});

test("a head of self-attention is named, whoever chose it", () => {
  const { context } = replayOf({}, { site: "encoder", layer: 0, head: 3 });
  const [{ training }] = speaker(context)();
  assert.deepEqual([training.site, training.layer, training.head], ["encoder", 0, 3]);
});

test("guests are told of a new moment and a new state, not of each step", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1000 });
  const replay = replayOf();
  const frame = speaker(replay.context);
  const revision = (run: object) => {
    context.mock.timers.tick(10);
    replay.context.give({ run: { ...RUN, ...run } });
    return frame()[0].training.revision;
  };
  const first = revision({});
  assert.equal(revision({ report: { ...RUN.report, facts: ["step 80/100"] } }), first);
  const grown = revision({ moments: [...RUN.moments, { step: 100 }] });
  assert.ok(grown > first);
  assert.ok(revision({ report: { ...RUN.report, words: "done" } }) > grown);
});

test("outside of a class nothing is said", () => {
  const { context } = replayOf();
  context.give({ run: { ...RUN, shared: undefined } });
  assert.deepEqual(speaker(context)(), []);
});

test("a guest's replay selects the moment and the head of the host's", () => {
  const { context } = replayOf({ at: 0, following: false });
  followMoment(context, { moment: 50, site: "cross", layer: 1, head: 2 });
  assert.deepEqual([context.state.at, context.state.following], [1, false]);
  assert.equal(context.state.headChosen, true);
  assert.deepEqual(context.chosen, { site: "cross", layer: 1, head: 2 });
  followMoment(context, { moment: null, site: "decoder", layer: null, head: null });
  assert.deepEqual([context.state.at, context.state.following], [2, true]);
  assert.equal(context.state.headChosen, false);
  assert.deepEqual(context.chosen, { site: "decoder" });
});
