import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore, whenever } from "../../../explorer/components/dom/js/store.ts";
import { onPage } from "../../../explorer/components/page/js/onPage.ts";
import {
  followMoment,
  placeTraining,
} from "../../../explorer/components/training_replay/js/classMoment.ts";

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

/** The training that guests follow, as the page has it. */
function training() {
  return onPage.picture?.view()?.training as any;
}

test("the page has the run, moment and head of the host's replay until it goes", async () => {
  const { context, ended } = replayOf();
  placeTraining(context);
  const seen: any[] = [];
  whenever(() => seen.push(training()), new AbortController().signal);
  const [{ revision, ...first }] = seen;
  assert.ok(revision > 0);
  const newest = { moment: null, site: "cross", layer: null, head: null };
  assert.deepEqual(first, { run: "runs/reverse-1", others: ["recorded/reverse"], ...newest });
  context.set({ at: 0, headChosen: true });
  await null;
  const chosen = { moment: 25, site: "cross", layer: 1, head: 2 };
  assert.deepEqual(seen[1], { ...seen[0], ...chosen });
  context.give({ palette: "dark" });
  await null;
  assert.equal(seen.length, 2);
  ended.abort();
  await null;
  assert.deepEqual(seen.slice(2), [undefined]);
  assert.equal(onPage.picture, null);
});

test("a head of self-attention is named, whoever chose it", () => {
  placeTraining(replayOf({}, { site: "encoder", layer: 0, head: 3 }).context);
  const { site, layer, head } = training();
  assert.deepEqual([site, layer, head], ["encoder", 0, 3]);
});

test("guests are told of a new moment and a new state, not of each step", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1000 });
  const replay = replayOf();
  placeTraining(replay.context);
  const revision = (run: object) => {
    context.mock.timers.tick(10);
    replay.context.give({ run: { ...RUN, ...run } });
    return training().revision;
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
  placeTraining(context);
  assert.equal(onPage.picture?.view(), null);
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
