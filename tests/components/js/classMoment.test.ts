import assert from "node:assert/strict";
import { test } from "node:test";
import { SHOWN } from "../../../explorer/components/page/js/classEvents.ts";
import {
  createClassMoment,
  followMoment,
} from "../../../explorer/components/training_replay/js/classMoment.ts";

const PAGE: any = new EventTarget();
PAGE.documentElement = { dataset: {} };
Object.assign(globalThis, { document: PAGE });

const RUN = {
  key: "runs/reverse-1@17",
  moments: [{ step: 25 }, { step: 50 }, { step: 75 }],
  others: [],
  report: { words: "training", problem: "", going: true },
  shared: { run: "runs/reverse-1", others: ["recorded/reverse"] },
};

/** A replay with a picture of `selected`. */
function replayOf(state: object = {}, selected: object = { site: "cross", layer: 1, head: 2 }) {
  const ended = new AbortController();
  const context: any = {
    run: RUN,
    state: { at: 2, following: true, headChosen: false, ...state },
    signal: ended.signal,
    act: { pause: () => {} },
    set: (patch: object) => Object.assign(context.state, patch),
    lastProbe: () => ({}),
  };
  const probe: any = { shown: () => selected, choose: (head: any) => (probe.head = head) };
  return { context, probe, ended };
}

/** What the page says while `act` runs. */
function said(act: () => void) {
  const details: any[] = [];
  const listen = ({ detail }: any) => details.push(detail);
  PAGE.addEventListener(SHOWN, listen);
  act();
  PAGE.removeEventListener(SHOWN, listen);
  return details;
}

test("the host's replay says its run, moment and head, and when it goes", () => {
  const { context, probe, ended } = replayOf();
  const update = createClassMoment(context, probe).update as (changed: Set<string>) => void;
  const [first] = said(() => update(new Set(["run"])));
  const { revision, ...training } = first.training;
  assert.ok(revision > 0);
  const newest = { moment: null, site: "cross", layer: null, head: null };
  assert.deepEqual(training, { run: "runs/reverse-1", others: ["recorded/reverse"], ...newest });
  context.set({ at: 0, headChosen: true });
  const [second] = said(() => update(new Set(["at"])));
  const chosen = { moment: 25, site: "cross", layer: 1, head: 2 };
  assert.deepEqual(second.training, { ...first.training, ...chosen });
  assert.deepEqual(
    said(() => update(new Set(["theme"]))),
    [],
  );
  assert.deepEqual(
    said(() => ended.abort()),
    [null],
  );
});

test("a head of self-attention is named, whoever chose it", () => {
  const { context, probe } = replayOf({}, { site: "encoder", layer: 0, head: 3 });
  const update = createClassMoment(context, probe).update as (changed: Set<string>) => void;
  const [{ training }] = said(() => update(new Set(["head"])));
  assert.deepEqual([training.site, training.layer, training.head], ["encoder", 0, 3]);
});

test("guests are told of a new moment and a new state, not of each step", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1000 });
  const replay = replayOf();
  const { update } = createClassMoment(replay.context, replay.probe);
  const revision = (run: object) => {
    context.mock.timers.tick(10);
    replay.context.run = { ...RUN, ...run };
    return said(() => update(new Set(["run"])))[0].training.revision;
  };
  const first = revision({});
  assert.equal(revision({ report: { ...RUN.report, facts: ["step 80/100"] } }), first);
  const grown = revision({ moments: [...RUN.moments, { step: 100 }] });
  assert.ok(grown > first);
  assert.ok(revision({ report: { ...RUN.report, words: "done" } }) > grown);
});

test("outside of a class nothing is said", () => {
  const { context, probe } = replayOf();
  context.run = { ...RUN, shared: undefined };
  const update = createClassMoment(context, probe).update as (changed: Set<string>) => void;
  assert.deepEqual(
    said(() => update(new Set(["run"]))),
    [],
  );
});

test("a guest's replay selects the moment and the head of the host's", () => {
  const { context, probe } = replayOf({ at: 0, following: false });
  followMoment(context, probe, { moment: 50, site: "cross", layer: 1, head: 2 });
  assert.deepEqual([context.state.at, context.state.following], [1, false]);
  assert.equal(context.state.headChosen, true);
  assert.deepEqual(probe.head, { site: "cross", layer: 1, head: 2 });
  assert.deepEqual(context.lastProbe(), probe.head);
  followMoment(context, probe, { moment: null, site: "decoder", layer: null, head: null });
  assert.deepEqual([context.state.at, context.state.following], [2, true]);
  assert.equal(context.state.headChosen, false);
  assert.deepEqual(probe.head, { site: "decoder" });
});
