import assert from "node:assert/strict";
import { test } from "node:test";
import { filteredHeads, NO_FILTER } from "../../../explorer/components/head_views/js/headFilter.ts";
import { gridTrace } from "../../../explorer/components/head_views/js/headGridView.ts";
import {
  metricLine,
  metricsOf,
  roleLines,
} from "../../../explorer/components/head_views/js/headRoles.ts";
import { traceAsPayload } from "../../../explorer/components/head_views/js/viewPayload.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

const header = { ...HEADER, language: "en", strings: { heads: "All heads" } };
const trace = readTrace(packPayload(header, { "cross.attention": ["uint16", CODES] }));
const strings = { not_measured: "not measured yet" };
const payload = traceAsPayload(trace, strings);
const frame: any = { payload, say: (key: string) => key };

test("a trace that is here is the trace of the grid, and nothing is copied", () => {
  assert.equal(payload.trace("trace"), trace);
  assert.equal(payload.header.player_strings, trace.header.strings);
  assert.equal(payload.header.strings, strings);
});

test("the grid asks for what is inside a head, and the player for more", () => {
  const names = ["head", "vectors", "path", "without", "contributions", "attribution", "score"];
  const asked = { ...trace, header: { ...trace.header, resources: { address: "trace/1", names } } };
  const grid = gridTrace({ trace: () => asked });
  const resources = { address: "trace/1", names: ["head", "vectors", "path", "without"] };
  assert.deepEqual(grid.header.resources, resources);
  assert.deepEqual(asked.header.resources.names, names);
  assert.equal(grid.sites, asked.sites);
  assert.equal(gridTrace({ trace: () => trace }), trace);
});

test("without measurements the grid has every head in its order, and says nothing of them", () => {
  const context: any = { trace, state: { site: "cross" } };
  const heads = filteredHeads(context, frame, NO_FILTER);
  assert.deepEqual(
    heads.map(({ layer, head, number, passes }) => [layer, head, number, passes]),
    [
      [0, 0, null, true],
      [0, 1, null, true],
    ],
  );
  assert.deepEqual(metricsOf(frame, "cross"), []);
  const key = { site: "cross", layer: 0, head: 1 } as const;
  assert.deepEqual(roleLines(frame, key, ""), []);
  const measurable = { ...frame, payload: { ...payload, header: { ...payload.header } } };
  measurable.payload.header.unmeasured = false;
  assert.deepEqual(roleLines(measurable, key, ""), ["not_measured"]);
});

test("an interval from 0 to 0, where no sentence changes, is not said", () => {
  const said: any = {
    say: (key: string, facts: any) => (facts ? [key, facts.low, facts.high] : key),
  };
  const line = (...numbers: (number | null)[]) =>
    metricLine(said, { metrics: { zero_exact: numbers } } as any, "zero_exact", String);
  assert.equal(line(0, 0, 0), "metric_zero_exact 0");
  assert.equal(line(0.5, null, null), "metric_zero_exact 0.5");
  assert.deepEqual(line(-0.1, -0.2, 0), ["metric_interval", "-0.2", "0"]);
  assert.deepEqual(line(0, -0.2, 0.2), ["metric_interval", "-0.2", "0.2"]);
  assert.equal(line(null, null, null), null);
});
