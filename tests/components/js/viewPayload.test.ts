import assert from "node:assert/strict";
import { test } from "node:test";
import { filteredHeads, NO_FILTER } from "../../../explorer/components/head_views/js/headFilter.ts";
import { gridTrace } from "../../../explorer/components/head_views/js/headGridView.ts";
import { metricsOf, roleLines } from "../../../explorer/components/head_views/js/headRoles.ts";
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
