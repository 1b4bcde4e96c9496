import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../../../explorer/components/dom/js/store.ts";
import { onPage } from "../../../explorer/components/page/js/onPage.ts";
import { createOpener, placeTrace } from "../../../explorer/components/player/js/classPicture.ts";
import {
  initialState,
  type TraceState,
} from "../../../explorer/components/trace/js/initialState.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const CROSS = { site: "cross", layer: "0" };

/** A picture: `arrive` lets the weights come that are waited for; `loaded` is what was asked for. */
function picture(chosen: Partial<TraceState> = {}) {
  const seen: any = { drawn: [], set: [], loaded: [] };
  const coming: (() => void)[] = [];
  const view = { what_if: false };
  const header = { ...HEADER, view, resources: null, visit: { model: "copy", text: "7 3" } };
  const trace = readTrace(packPayload(header, { "cross.attention": ["uint16", CODES] }));
  const { values: state, set } = createStore({ ...initialState(trace, {}, {}), ...chosen });
  const context: any = {
    ...{ pieces: trace, trace, options: {}, state, generation: 0 },
    signal: new AbortController().signal,
    set: (patch: any) => {
      seen.set.push(patch.step);
      set(patch);
    },
    give: ({ generation }: any) => {
      context.generation = generation;
    },
    act: {
      pause: () => {},
      showLoaded: (_: any, wanted: any, show: any) => {
        seen.loaded.push(wanted.step);
        coming.splice(0, 1, show); // what was waited for before comes no more
      },
    },
  };
  const opener = createOpener(context);
  const arrive = () => {
    for (const show of coming.splice(0, 1)) show();
  };
  /** Follow an address, and let come what it needs. */
  const follow = (query: Record<string, string>, guess: any = null) => {
    opener.follow({ query: { ...CROSS, ...query }, guess });
    arrive();
  };
  return { opener, trace, seen, arrive, context, state, follow };
}

const at = (step: number) => ({ query: { ...CROSS, head: "0", step: String(step) }, guess: null });

test("what the host shows of a trace that is loaded waits for its weights", () => {
  const { opener, trace, seen, arrive } = picture();
  opener.open(trace, { step: 2 } as any, () => seen.drawn.push("new"));
  for (const step of [2, 1]) opener.follow(at(step));
  assert.deepEqual(seen, { drawn: [], set: [], loaded: [2] });
  arrive();
  assert.deepEqual(seen, { drawn: ["new"], set: [], loaded: [2, 1] });
  arrive();
  assert.deepEqual(seen.set, [1]);
});

test("what was kept for a trace is not shown of the next one", () => {
  const { opener, trace, seen, arrive } = picture();
  opener.open(trace, { step: 2 } as any, () => seen.drawn.push("first"));
  opener.follow(at(1));
  opener.open(trace, { step: 2 } as any, () => seen.drawn.push("second"));
  arrive();
  assert.deepEqual(seen, { drawn: ["second"], set: [], loaded: [2, 2] });
});

test("a guest's picture shows what the host's address says, where the trace has it", () => {
  const { state, follow } = picture({ alignment: "input", hinted: false });
  follow({ head: "1", step: "1", zoom: "0-1.1-2", cell: "0.2", inside: "score", ahead: "0" });
  assert.deepEqual([state.head, state.step, state.ahead, state.hinted], [1, 1, false, true]);
  assert.deepEqual(state.zoom, [0, 1, 1, 2]);
  assert.deepEqual([state.inside, state.insideView], [{ query: 0, key: 2 }, "score"]);
  assert.equal(state.alignment, "off");
  follow({ step: "9", zoom: "0-9.1-2" });
  assert.deepEqual([state.head, state.step, state.zoom, state.inside], [-1, 2, null, null]);
});

test("a guest keeps what nobody follows", () => {
  const own = { everything: false, whatIf: false, nextView: "log" as const, temperature: 2 };
  const { context, state, follow } = picture(own);
  follow({ head: "0", step: "1", alignment: "prediction", everything: "1", next: "heads" });
  const kept = Object.keys(own).map((name) => state[name as keyof typeof own]);
  assert.deepEqual(kept, Object.values(own));
  assert.equal(state.alignment, "prediction");
  assert.equal(context.generation, 0); // the zoom and the pictures are those of the same trace
});

test("a guest hides what the host hides, and keeps the tally", () => {
  const before = { ...{ weightsToo: false, ahead: true, rows: 0, tokens: 0 }, right: 3, total: 4 };
  const { state, follow } = picture({ guess: { ...before, answer: null } });
  const hidden = { weightsToo: true, rows: 1, tokens: 2 };
  follow({ head: "0", step: "2", guess: "1" }, hidden);
  assert.deepEqual(state.guess, { ...before, ...hidden, answer: null });
  follow({ head: "0", step: "2" });
  assert.equal(state.guess, null);
});

test("the page has the address of the host's picture, without what each guest chooses", () => {
  const guess = { ...{ weightsToo: false, ahead: true, rows: 1, tokens: 1 }, right: 3, total: 4 };
  const { context } = picture({ everything: true, step: 2, guess: { ...guess, answer: null } });
  placeTrace(context, "player");
  const { query, ...rest } = onPage.picture?.view() ?? { query: {} };
  const place = { site: "cross", layer: "0", head: "0", step: "2", guess: "1" };
  assert.deepEqual(query, { model: "copy", text: "7 3", ...place });
  const known = { weightsToo: false, rows: 1, tokens: 1 };
  assert.deepEqual(rest, { guess: known, trace: "", picture: "player", training: null });
});
