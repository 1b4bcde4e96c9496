import assert from "node:assert/strict";
import { test } from "node:test";
import { draw, randomShare } from "../../../explorer/components/browser_model/js/drawing.ts";
import { createRandom } from "../../../explorer/components/browser_training/js/random.ts";
import { changed, readIntervention } from "../../../explorer/components/trace/js/interventions.ts";
import { sharedExamples } from "./sharedExamples.ts";

const EXAMPLES = sharedExamples("drawing") as any;

test("shares are those of Python", () => {
  for (const { seed, step, share } of EXAMPLES.shares)
    assert.equal(randomShare(seed, step), share, `${seed} ${step}`);
});

test("what is drawn is what Python draws", () => {
  for (const { temperature, seed, logits, ids } of EXAMPLES.drawn) {
    const drawing = { verb: "draw" as const, temperature, seed };
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
});
