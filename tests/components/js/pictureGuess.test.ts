import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formingPicture,
  offeredPictures,
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
