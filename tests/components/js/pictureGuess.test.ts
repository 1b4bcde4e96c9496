import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formingPicture,
  offeredPictures,
  pictureQuestion,
  revealPicture,
} from "../../../explorer/components/training_replay/js/pictureGuess.ts";

test("the right picture is among three to choose from", () => {
  const rights = { copy: "diagonal", reverse: "antidiagonal", sort: "scattered" };
  for (const [task, right] of Object.entries(rights)) {
    for (const causal of [true, false]) {
      const wanted = causal ? right : "ahead";
      assert.equal(formingPicture({ task, causal }), wanted);
      assert.ok(offeredPictures({ causal }).includes(wanted as any));
      assert.equal(new Set(offeredPictures({ causal })).size, 3);
    }
  }
});

test("of a translation no picture is known", () => {
  assert.equal(formingPicture({ task: "translate", causal: true }), undefined);
  assert.equal(formingPicture({ task: "translate", causal: false }), undefined);
});

/** A replay whose sharpest head puts `gold` on the right symbol. */
function replayOf(key: string, gold: number, given: object = {}) {
  const moments = [{ step: 25, gold: [[gold, 0.1]] }];
  const run = { key, task: "reverse", causal: true, report: { going: true }, moments, ...given };
  const context: any = { run, state: { guess: undefined } };
  context.set = (patch: object) => Object.assign(context.state, patch);
  return context;
}

test("a class votes on the picture until the host reveals it", () => {
  const context = replayOf("runs/a", 0.2);
  const asked = pictureQuestion(context);
  assert.deepEqual(asked?.candidates, ["diagonal", "antidiagonal", "scattered"]);
  assert.deepEqual([asked?.kind, asked?.head, asked?.answer], ["picture", "", null]);
  revealPicture(context);
  assert.equal(pictureQuestion(context)?.answer, 1); // the anti-diagonal, of reverse
});

test("once the picture has formed, or the training has ended, the vote has ended", () => {
  assert.equal(pictureQuestion(replayOf("runs/b", 0.8))?.answer, 1);
  assert.equal(pictureQuestion(replayOf("runs/c", 0.2, { report: { going: false } }))?.answer, 1);
});

test("of a translation a class is asked nothing", () => {
  assert.equal(pictureQuestion(replayOf("runs/d", 0.2, { task: "translate" })), null);
});
