import assert from "node:assert/strict";
import { test } from "node:test";
import { createHeadLoading } from "../../../explorer/components/trace/js/headLoading.ts";
import { scaleOf } from "../../../explorer/components/trace/js/scale.ts";
import { selectionOf } from "../../../explorer/components/trace/js/selectionReport.ts";
import {
  mapTitle,
  otherShare,
  shownHead,
} from "../../../explorer/components/trace/js/stepState.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const CONTRIBUTIONS = [13107, 0, 26214, 6554, 6553, 0];

function contributions(share: number[]) {
  const words = packPayload({}, { cross: ["uint16", [65535]], source_share: ["float32", [1]] });
  return packPayload(
    { agreement: [["rollout", 2]] },
    {
      cross: ["uint16", CONTRIBUTIONS],
      source_share: ["float32", share],
      words: ["uint8", words],
    },
  );
}

function exampleTrace() {
  const header = {
    ...HEADER,
    resources: { address: "trace/x", names: ["contributions"], methods: ["alti"] },
  };
  return readTrace(packPayload(header, { "cross.attention": ["uint16", CODES] }));
}

test("contributions stand in place of a head once they are added", () => {
  const trace = exampleTrace();
  const { cross } = trace.sites;
  assert.ok(cross);
  assert.equal(cross.has(0, "alti"), false);
  assert.throws(() => cross.weights(0, "alti"), /no contributions/);
  trace.contributions.add("alti", contributions([0.5, 0.25]));
  assert.equal(cross.has(0, "alti"), true);
  assert.deepEqual([...cross.weights(0, "alti")], CONTRIBUTIONS);
  assert.deepEqual([...(trace.contributions.sourceShare("alti") ?? [])], [0.5, 0.25]);
  assert.deepEqual([...cross.weights(0, 0)], CODES.slice(0, 6));
  assert.equal(trace.contributions.words?.loaded("alti"), true);
});

test("where nothing is predicted, there is no share of the source", () => {
  const trace = exampleTrace();
  trace.contributions.add("alti", packPayload({}, { cross: ["uint16", CONTRIBUTIONS] }));
  assert.equal(trace.contributions.sourceShare("alti"), null);
});

test("a query keeps of itself what its keys do not contribute", () => {
  const trace = exampleTrace();
  trace.contributions.add("alti", contributions([0.5, 0.25]));
  const { cross } = trace.sites;
  assert.ok(cross);
  assert.ok(Math.abs(otherShare(cross, 0, "alti", 0) - 0.4) < 1e-4);
  assert.ok(Math.abs(otherShare(cross, 0, "alti", 1) - 0.8) < 1e-4);
});

test("they are fetched when they are chosen, and the weights stay when that fails", async () => {
  const trace = exampleTrace();
  const fetched: string[] = [];
  let broken = true;
  globalThis.document = { baseURI: "about:blank" } as Document;
  const before = {
    fetch: globalThis.fetch,
    URL: globalThis.URL,
    setTimeout: globalThis.setTimeout,
  };
  Object.assign(globalThis, {
    URL: class {
      constructor(path: string) {
        fetched.push(path);
      }
    },
    fetch: async () => ({
      ok: !broken,
      status: 503,
      arrayBuffer: async () => contributions([0.5, 0.25]).buffer,
    }),
    setTimeout: (done: () => void) => before.setTimeout(done, 0),
  });
  const said: string[] = [];
  const root = {
    classList: { toggle: () => {}, remove: () => {} },
    append: () => {},
  };
  const load = createHeadLoading({
    root,
    signal: new AbortController().signal,
    options: {},
    say: (name: string) => {
      said.push(name);
      return name;
    },
  } as unknown as TraceContext);
  const wanted = {
    site: "cross",
    layer: 0,
    head: 1,
    shows: "rollout",
    words: false,
  } as const;
  let shown = 0;
  const show = () => {
    shown += 1;
  };
  try {
    await load(trace, wanted, show);
  } catch {
    // The element of the message needs a browser.
  }
  assert.deepEqual([shown, said], [0, ["contributions_not_loaded"]]);
  broken = false;
  await load(trace, wanted, show);
  assert.equal(shown, 1);
  assert.ok(fetched.every((path) => path === "trace/x/contributions/rollout"));
  Object.assign(globalThis, before);
});

test("they are reported to the app, drawn on the scale of small numbers and named", () => {
  const trace = exampleTrace();
  const state = {
    site: "cross",
    layer: 0,
    head: 0,
    shows: "alti",
    step: 1,
    scale: null,
    alignment: "off",
    guess: null,
    ahead: true,
    inside: null,
  } as const;
  const say = (key: string, facts: object) => [key, ...Object.values(facts ?? {})].join(" ");
  const context = { trace, pieces: trace, state, say } as unknown as TraceContext;
  const { head, shows, layer } = selectionOf(context);
  assert.deepEqual([head, shows, layer], [0, "alti", 0]);
  const { cross } = trace.sites;
  assert.ok(cross);
  assert.equal(scaleOf({ ...state }, cross), "sqrt");
  assert.equal(scaleOf({ ...state, shows: "weight" }, cross), "linear");
  assert.equal(mapTitle(context), "site_cross · all_of L0");
});

test("leave-one-out has what fell and how often others agree, and nothing of the encoder", () => {
  const trace = exampleTrace();
  const drops = packPayload(
    { agreement: [["alti", 2]] },
    { cross: ["uint16", CONTRIBUTIONS], "cross.drop": ["float32", [0.5, -0.25, 1, 0, 0, 0]] },
  );
  assert.deepEqual(trace.contributions.agreement(), []);
  trace.contributions.add("leave_one_out", drops);
  assert.deepEqual(trace.contributions.agreement(), [["alti", 2]]);
  assert.equal(trace.contributions.drop("cross", 1), -0.25);
  const state = { head: 1, shows: "leave_one_out" } as const;
  assert.equal(shownHead({ ...state, site: "cross" }), "leave_one_out");
  assert.equal(shownHead({ ...state, site: "encoder" }), 1);
  assert.equal(shownHead({ head: 1, shows: "rollout", site: "encoder" }), "rollout");
});
