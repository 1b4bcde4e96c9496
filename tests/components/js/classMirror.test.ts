import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpener } from "../../../explorer/components/player/js/classMirror.ts";

const SITE = { layers: 2, heads: 4, queries: 6, keys: 7 };
const SHOWN = { site: "cross", layer: 0, head: 2, step: 2, shows: "weight", guess: null };

/** A picture: `arrive` lets the weights come that are waited for; `loaded` is what was asked for. */
function picture() {
  const seen: any = { drawn: [], set: [], loaded: [] };
  const coming: (() => void)[] = [];
  const trace: any = {
    sites: { cross: SITE },
    predicted: ["1"],
    steps: 5,
    header: { resources: null },
  };
  const context: any = {
    pieces: trace,
    options: {},
    state: { words: false },
    set: (patch: any) => seen.set.push(patch.step),
    act: {
      pause: () => {},
      showLoaded: (_: any, state: any, show: any) => {
        seen.loaded.push(state.step);
        coming.splice(0, 1, show); // what was waited for before comes no more
      },
    },
  };
  const opener = createOpener(context);
  const arrive = () => {
    for (const show of coming.splice(0, 1)) show();
  };
  return { opener, trace, seen, arrive, context };
}

test("what the host shows of a trace that is loaded waits for its weights", () => {
  const { opener, trace, seen, arrive } = picture();
  const state: any = { step: 1 };
  opener.open(trace, state, () => seen.drawn.push("new"));
  for (const step of [2, 3]) opener.follow({ ...SHOWN, step } as any);
  assert.deepEqual(seen, { drawn: [], set: [], loaded: [1] });
  arrive();
  assert.deepEqual(seen, { drawn: ["new"], set: [], loaded: [1, 3] });
  arrive();
  assert.deepEqual(seen.set, [3]);
});

test("what the host shows of the trace on screen is shown at once", () => {
  const { opener, seen, arrive } = picture();
  opener.follow(SHOWN as any);
  arrive();
  assert.deepEqual(seen.set, [2]);
});

test("a guest's map shows the host's part of it, where the trace has it", () => {
  const { opener, seen, arrive, context } = picture();
  const zooms: unknown[] = [];
  context.set = (patch: any) => zooms.push(patch.zoom);
  for (const zoom of [[2, 4, 0, 3], [2, 9, 0, 3], null]) {
    opener.follow({ ...SHOWN, zoom } as any);
    arrive();
  }
  assert.deepEqual(zooms, [[2, 4, 0, 3], null, null]);
  assert.deepEqual(seen.loaded, [2, 2, 2]);
});

test("what was kept for a trace is not shown of the next one", () => {
  const { opener, trace, seen, arrive } = picture();
  const state: any = { step: 1 };
  opener.open(trace, state, () => seen.drawn.push("first"));
  opener.follow({ ...SHOWN, step: 4 } as any);
  opener.open(trace, state, () => seen.drawn.push("second"));
  arrive();
  assert.deepEqual(seen, { drawn: ["second"], set: [], loaded: [1, 1] });
});
