import assert from "node:assert/strict";
import { test } from "node:test";
import { signed } from "../../../explorer/components/dom/js/numbers.ts";
import { readAttribution } from "../../../explorer/components/player/js/attribution.ts";
import { shortPart, showsHeadParts } from "../../../explorer/components/player/js/headParts.ts";
import { startGuessing } from "../../../explorer/components/trace/js/guess.ts";
import {
  initialState,
  type TraceState,
} from "../../../explorer/components/trace/js/initialState.ts";
import { selectionOf } from "../../../explorer/components/trace/js/selectionReport.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const PARTS = packPayload(
  { runner_up: ["1", "2"], heads: { cross: [2, 2] } },
  {
    cross: ["float32", [1, -2, 0.5, 0, 3, 0, 0, -8]],
    embedding: ["float32", [0.25, 0]],
    feed_forward: ["float32", [2, 4]],
    bias: ["float32", [0.25, 0]],
    difference: ["float32", [2, -1]],
  },
);

globalThis.document = {
  documentElement: { hasAttribute: () => false, getAttribute: () => null },
  querySelector: () => null,
} as unknown as Document;

/** A context of a trace of which the server has parts of heads, or not. */
function contextOf(state: Partial<TraceState>, offered = true) {
  const resources = { address: "trace/x", names: ["attribution"] };
  const header = offered ? { ...HEADER, resources } : HEADER;
  const trace = readTrace(packPayload(header, { "cross.attention": ["uint16", CODES] }));
  const shown = { ...initialState(trace, {}, {}), ...state };
  return { trace, pieces: trace, state: shown, asked: { answer: "" } } as unknown as TraceContext;
}

test("the parts of a step sum to its difference", () => {
  const found = readAttribution(PARTS);
  const [first, second] = [found.of(0), found.of(1)];
  assert.deepEqual([first.runnerUp, second.runnerUp], ["1", "2"]);
  assert.deepEqual([...second.attentions[0].values], [3, 0, 0, -8]);
  assert.deepEqual(
    first.others.map(({ value }) => value),
    [2, 0.25, 0.25],
  );
  for (const { heads, rest, difference } of [first, second]) assert.equal(heads + rest, difference);
  assert.deepEqual([found.largestHead, found.largest], [8, 5]);
  assert.throws(
    () => readAttribution(packPayload({ runner_up: ["1"], heads: {} }, {})),
    /no parts/,
  );
});

test("numbers have their sign, and two digits in a cell", () => {
  assert.deepEqual(
    [0.004, 1.256, -1.256].map((value) => signed(value)),
    ["0.00", "+1.26", "−1.26"],
  );
  const short = [0, -0.04, 0.25, -0.3, 3.44, 9.96, -12.6].map(shortPart);
  assert.deepEqual(short, ["0", "0", "+.3", "−.3", "+3.4", "+10", "−13"]);
});

test("parts of heads are shown where they are chosen, offered and no answer is given away", () => {
  const chosen = { nextView: "heads", step: 2 } as const;
  const guess = startGuessing(2, false);
  assert.equal(showsHeadParts(contextOf(chosen)), true);
  assert.equal(showsHeadParts(contextOf({ ...chosen, nextView: "log" })), false);
  assert.equal(showsHeadParts(contextOf(chosen, false)), false);
  assert.equal(showsHeadParts(contextOf({ ...chosen, guess })), false);
  assert.equal(showsHeadParts(contextOf({ ...chosen, guess: { ...guess, tokens: 2 } })), true);
});

test("they open by a link, end by going back, and are reported where they are offered", () => {
  const { trace } = contextOf({});
  const before = { nextView: "heads" } as const;
  assert.equal(initialState(trace, { next: "heads" }, {}).nextView, "heads");
  assert.equal(initialState(trace, { next: null }, before).nextView, "percent");
  assert.equal(initialState(trace, { next: null }, { nextView: "log" }).nextView, "log");
  assert.equal(initialState(trace, {}, before).nextView, "heads");
  assert.equal(selectionOf(contextOf(before)).next, "heads");
  assert.equal(selectionOf(contextOf(before, false)).next, null);
});
