import assert from "node:assert/strict";
import { test } from "node:test";
import { createHeadLoading } from "../../../explorer/components/shared/js/headLoading.js";
import { scaleOf } from "../../../explorer/components/shared/js/scale.js";
import { selectionOf } from "../../../explorer/components/shared/js/selectionReport.js";
import {
  mapTitle,
  otherShare,
  shownHead,
} from "../../../explorer/components/shared/js/stepState.js";
import { readTrace } from "../../../explorer/components/shared/js/trace.js";
import { CODES, HEADER, packPayload } from "./payloads.mjs";

/** @import { TraceContext } from "../../../explorer/components/shared/js/traceContext.js" */

const CONTRIBUTIONS = [13107, 0, 26214, 6554, 6553, 0];

/** @param {number[]} share */
function contributions(share) {
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
  const header = { ...HEADER, resources: { address: "trace/x", names: ["contributions"] } };
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
  assert.deepEqual([...trace.contributions.sourceShare("alti")], [0.5, 0.25]);
  assert.deepEqual([...cross.weights(0, 0)], CODES.slice(0, 6));
  assert.equal(trace.contributions.words?.loaded("alti"), true);
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
  /** @type {string[]} */
  const fetched = [];
  let broken = true;
  globalThis.document = /** @type {Document} */ ({ baseURI: "about:blank" });
  const before = {
    fetch: globalThis.fetch,
    URL: globalThis.URL,
    setTimeout: globalThis.setTimeout,
  };
  Object.assign(globalThis, {
    URL: class {
      /** @param {string} path */
      constructor(path) {
        fetched.push(path);
      }
    },
    fetch: async () => ({
      ok: !broken,
      status: 503,
      arrayBuffer: async () => contributions([0.5, 0.25]).buffer,
    }),
    setTimeout: (/** @type {() => void} */ done) => before.setTimeout(done, 0),
  });
  /** @type {string[]} */
  const said = [];
  const root = {
    classList: { toggle: () => {}, remove: () => {} },
    append: () => {},
  };
  const load = createHeadLoading(
    /** @type {TraceContext} */ (
      /** @type {unknown} */ ({
        root,
        signal: new AbortController().signal,
        options: {},
        say: (/** @type {string} */ name) => {
          said.push(name);
          return name;
        },
      })
    ),
  );
  const wanted = /** @type {const} */ ({
    site: "cross",
    layer: 0,
    head: 1,
    shows: "rollout",
    words: false,
  });
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
  const state = /** @type {const} */ ({
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
  });
  const say = (/** @type {string} */ key, /** @type {object} */ facts) =>
    [key, ...Object.values(facts ?? {})].join(" ");
  const context = /** @type {TraceContext} */ (
    /** @type {unknown} */ ({ trace, pieces: trace, state, say })
  );
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
  const state = /** @type {const} */ ({ head: 1, shows: "leave_one_out" });
  assert.equal(shownHead({ ...state, site: "cross" }), "leave_one_out");
  assert.equal(shownHead({ ...state, site: "encoder" }), 1);
  assert.equal(shownHead({ head: 1, shows: "rollout", site: "encoder" }), "rollout");
});
