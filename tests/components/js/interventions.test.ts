import assert from "node:assert/strict";
import { test } from "node:test";
import { draggedWeight } from "../../../explorer/components/map/js/editGestures.ts";
import {
  changed,
  chipName,
  linesIn,
  onAnyText,
  setWeight,
  toggleCell,
  toggleHead,
} from "../../../explorer/components/trace/js/interventions.ts";
import { VERBS } from "../../../explorer/components/trace/js/look.ts";
import {
  chipOf,
  lineOf,
  rangesOf,
  readIntervention,
} from "../../../explorer/components/trace/js/verbs.ts";
import { sharedExamples } from "./sharedExamples.ts";

const EXAMPLES = sharedExamples("intervention") as any;

type Removed = Record<string, "zero" | "mean">;

/** A cross-attention of two layers, three heads, two queries and three keys. */
function site(removed: Removed = {}, codes = [0, 0, 0, 0, 1, 2]): any {
  const weights = Uint16Array.from([30_000, 10_000, 0, 65_535, 0, 0]);
  return {
    name: "cross",
    layers: 2,
    numbers: [0, 1],
    heads: 3,
    queries: 2,
    keys: 3,
    removed: (layer: number, head: number) => removed[`${layer}/${head}`] ?? null,
    masked: () => Uint8Array.from(codes),
    weights: () => weights,
  };
}

const at = (removed?: Removed, codes?: number[]) => ({
  site: site(removed, codes),
  layer: 0,
  head: 1,
});

test("a line is read as Python reads it, and nothing else is", () => {
  assert.ok(EXAMPLES.lines.length > 300);
  for (const { line, gives } of EXAMPLES.lines)
    assert.deepEqual(readIntervention(line), typeof gives === "string" ? null : gives, line);
});

test("a line that is read is written and read again", () => {
  for (const { line, gives } of EXAMPLES.lines) {
    const one = readIntervention(line);
    if (one) assert.deepEqual(readIntervention(lineOf(one)), gives, line);
  }
  for (const line of ["ablate cross.1.*", "open decoder.*.* 2 5", "row cross.1.2 3 0.5,0,1"])
    assert.equal(lineOf(readIntervention(line) as any), line);
});

test("the key, the facts and the further words of a chip are those of Python", () => {
  for (const { line, ...chip } of EXAMPLES.chips)
    assert.deepEqual(chipOf(readIntervention(line) as any), chip, line);
});

test("each gesture of Edit writes lines of its verbs", () => {
  const close = toggleCell([], at(), { query: 0, key: 2 });
  const open = toggleCell([], at(), { query: 1, key: 1 });
  const row = setWeight([], at(), { query: 0, key: 2 }, 0.6);
  const written: Record<string, any> = { head: [toggleHead([], at())], cell: [close, open] };
  written.weight = [row];
  for (const verb of Object.keys(VERBS)) {
    const changes = written[EXAMPLES.gestures[verb]] ?? [];
    const lines: string[] = changes.flatMap(({ add }: any) => add);
    assert.equal(
      lines.some((line) => line.startsWith(`${verb} `)),
      changes.length > 0,
      verb,
    );
  }
});

test("the sentences name the ends of ranges", () => {
  const { seed_least, seed_most, k_most, p_least } = rangesOf("draw");
  assert.deepEqual([seed_least, seed_most, k_most, p_least], [0, 9999, 9999, 0]);
});

test("the facts of a trace may hold anything", () => {
  assert.deepEqual(linesIn({}), []);
  assert.deepEqual(linesIn({ interventions: "omit mask" }), []);
  assert.deepEqual(linesIn({ interventions: [3, "omit mask", "x"] }), ["omit mask"]);
});

test("a change keeps the order of a trace, and each line once", () => {
  const lines = ["ablate cross.0.0", "close cross.0.0 1 0", "omit mask"];
  const change = { add: ["ablate cross.1.0", "omit mask"], remove: ["ablate cross.0.0"] };
  assert.deepEqual(changed(lines, change), [
    "ablate cross.1.0",
    "close cross.0.0 1 0",
    "omit mask",
  ]);
  assert.deepEqual(onAnyText(lines), ["ablate cross.0.0", "omit mask"]);
  assert.deepEqual(changed(["mask cross.0.0  1 0"], { add: [], remove: [] }), [lines[1]]);
  const mean = { add: ["ablate cross.0.0 mean"], remove: [] };
  assert.deepEqual(changed(lines, mean), ["ablate cross.0.0 mean", ...lines.slice(1)]);
});

test("a press on a head removes it, and another puts it back", () => {
  const line = "ablate cross.0.1";
  assert.deepEqual(toggleHead([], at()), { add: [line], remove: [] });
  assert.deepEqual(toggleHead([line], at({ "0/1": "zero" })), { add: [], remove: [line] });
  const others = ["ablate encoder.0.1", "close cross.0.1 0 0"];
  assert.deepEqual(toggleHead(others, at()), { add: [line], remove: [] });
});

test("a head comes back from a whole layer, and from those not kept", () => {
  const layer: Removed = { "0/0": "mean", "0/1": "mean", "0/2": "mean" };
  assert.deepEqual(toggleHead(["ablate cross.0.* mean"], at(layer)), {
    add: ["ablate cross.0.0 mean", "ablate cross.0.2 mean"],
    remove: ["ablate cross.0.* mean"],
  });
  const kept: Removed = {
    "0/1": "zero",
    "0/2": "zero",
    "1/0": "zero",
    "1/1": "zero",
    "1/2": "zero",
  };
  assert.deepEqual(toggleHead(["keep cross.0.0"], at(kept)), {
    add: ["ablate cross.0.2", "ablate cross.1.*"],
    remove: ["keep cross.0.0"],
  });
});

test("a tap on a cell masks it, and another undoes that", () => {
  const line = "close cross.0.1 0 2";
  assert.deepEqual(toggleCell([], at(), { query: 0, key: 2 }), { add: [line], remove: [] });
  const masked = at({}, [0, 0, 3, 0, 1, 2]);
  assert.deepEqual(toggleCell([line], masked, { query: 0, key: 2 }), { add: [], remove: [line] });
  const opened = "open cross.*.* 1 1";
  const added = { add: ["open cross.0.1 1 1"], remove: [] };
  assert.deepEqual(toggleCell([], at(), { query: 1, key: 1 }), added);
  const open = at({}, [0, 0, 0, 0, 0, 2]);
  assert.deepEqual(toggleCell([opened], open, { query: 1, key: 1 }), { add: [], remove: [opened] });
});

test("the last cell of a row stays, and so does one that no line of a cell masks", () => {
  assert.equal(toggleCell([], at(), { query: 1, key: 0 }), "edit_last_cell");
  assert.equal(setWeight([], at(), { query: 1, key: 0 }, 0.5), "edit_last_cell");
  assert.equal(setWeight([], at(), { query: 1, key: 1 }, 0.5), "edit_masked");
});

test("a weight is set, the others keep their proportions, and the row before is replaced", () => {
  const before = "row cross.0.1 0 1,0,0";
  const change = setWeight([before, "row cross.0.0 0 1,0,0"], at(), { query: 0, key: 2 }, 0.6);
  assert.deepEqual(change, { add: ["row cross.0.1 0 0.3,0.1,0.6"], remove: [before] });
  const others = setWeight([], at({}, [0, 0, 0, 0, 0, 0]), { query: 1, key: 0 }, 0);
  assert.deepEqual(others, { add: ["row cross.0.1 1 0,0.5,0.5"], remove: [] });
});

test("a drag of 160 px is the whole weight, and it stays within 0 and 1", () => {
  assert.equal(draggedWeight(0.25, 40), 0.5);
  assert.equal(draggedWeight(0.25, 400), 1);
  assert.equal(draggedWeight(0.25, -400), 0);
});

test("a chip names the head by its layer in the model", () => {
  const say: any = (key: string, facts = {}) => `${key} ${Object.values(facts).join(" ")}`.trim();
  const sites = { cross: { ...site(), numbers: [3, 7] } };
  assert.equal(chipName("ablate cross.1.2", say, sites), "chip_ablate_zero site_cross L7 H2");
  assert.equal(chipName("keep cross.0.*", say, sites), "chip_keep site_cross L3 every_head");
  assert.equal(
    chipName("open decoder.*.* 2 5", say, sites),
    "chip_open site_decoder every_layer every_head 3 6",
  );
  assert.equal(chipName("row cross.0.0 2 1", say, sites), "chip_row site_cross L3 H0 3");
  assert.equal(chipName("omit mask", say, sites), "chip_omit_mask");
});
