import assert from "node:assert/strict";
import { test } from "node:test";
import { draw, randomShare } from "../../../explorer/components/browser_model/js/drawing.ts";
import { createRandom } from "../../../explorer/components/browser_training/js/random.ts";
import { chosenDrawing, nextSeed } from "../../../explorer/components/player/js/drawTokens.ts";
import { changed, chipName } from "../../../explorer/components/trace/js/interventions.ts";
import {
  type Intervention,
  lineOf,
  readIntervention,
} from "../../../explorer/components/trace/js/verbs.ts";
import { sharedExamples } from "./sharedExamples.ts";

const EXAMPLES = sharedExamples("drawing") as any;

test("shares are those of Python", () => {
  for (const { seed, step, share } of EXAMPLES.shares)
    assert.equal(randomShare(seed, step), share, `${seed} ${step}`);
});

test("what is drawn is what Python draws", () => {
  for (const { logits, ids, ...how } of EXAMPLES.drawn) {
    const drawing = { verb: "draw" as const, ...how };
    const drawn = ids.map((_: number, at: number) =>
      draw(drawing, Float32Array.from(logits), at + 1),
    );
    assert.deepEqual(drawn, ids);
  }
});

test("a trainer draws the shares of its seed in turn", () => {
  const random = createRandom(7);
  assert.deepEqual([random.share(), random.share()], [randomShare(7, 1), randomShare(7, 2)]);
});

test("a drawing has a line, and the last one counts", () => {
  assert.deepEqual(readIntervention("draw 0.8 7"), { verb: "draw", temperature: 0.8, seed: 7 });
  for (const wrong of ["draw", "draw 1", "draw x 1", "draw 9 1", "draw 1 1 1", "draw 1 10000"])
    assert.equal(readIntervention(wrong), null, wrong);
  const lines = ["omit mask", "draw 1 2"];
  assert.deepEqual(changed(lines, { add: ["draw 0.5 3"], remove: [] }), [
    "omit mask",
    "draw 0.5 3",
  ]);
  assert.deepEqual(changed(["draw 1 2", "draw 0.5 3"], { add: [], remove: [] }), ["draw 0.5 3"]);
});

test("a line may name k and p", () => {
  const drawing = { verb: "draw" as const, temperature: 0.8, seed: 7, k: 40, p: 0.9 };
  for (const line of ["draw 0.8 7", "draw 0.8 7 k=40", "draw 0.8 7 p=0.9", "draw 0.8 7 k=40 p=1"])
    assert.equal(lineOf(readIntervention(line) as Intervention), line);
  assert.deepEqual(readIntervention("draw 0.8 7 k=40 p=0.9"), drawing);
  for (const wrong of ["k=0", "k=10000", "k=1.5", "k=", "p=0", "p=1.1", "p=x", "p=0.9 k=4", "q=1"])
    assert.equal(readIntervention(`draw 0.8 7 ${wrong}`), null, wrong);
  const say = (key: string, facts: object = {}) => [key, ...Object.values(facts)].join(" ");
  const name = chipName("draw 0.8 7 k=40 p=0.9", say, {});
  assert.equal(name, "chip_draw_more chip_draw_more chip_draw 0.8 7 k 40 p 0.9");
});

test("the next drawing has the next seed, and k and p as they stand in their fields", () => {
  const chosen = { temperature: "0.8", k: "", p: "" };
  assert.equal(chosenDrawing(nextSeed(null), chosen), "draw 0.8 2");
  const before = { verb: "draw" as const, temperature: 1, seed: 9999 };
  assert.equal(chosenDrawing(nextSeed(before), { ...chosen, k: "40" }), "draw 0.8 1 k=40");
  assert.equal(chosenDrawing(3, { ...chosen, k: "5", p: "0.90" }), "draw 0.8 3 k=5 p=0.9");
  for (const wrong of [
    { k: "0" },
    { k: "10000" },
    { k: "1.5" },
    { k: "?" },
    { p: "0" },
    { p: "2" },
  ])
    assert.equal(chosenDrawing(3, { ...chosen, ...wrong }), null);
});
