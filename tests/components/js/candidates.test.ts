import assert from "node:assert/strict";
import { test } from "node:test";
import { likelyOf } from "../../../explorer/components/player/js/candidates.ts";

test("Simple lists no token that the model all but excludes, unless it was taken", () => {
  const flags = { forced: false, given: false, drawn: false };
  const candidates = [0.9985, 0.001, 0.0004, 0.00007].map((probability, index) => {
    const of = { id: index, token: String(index), rank: index + 1, probability };
    return { ...of, ...flags, chosen: index === 3 };
  });
  const ranks = (shown: (probability: number) => number) =>
    likelyOf(candidates, shown).map(({ rank }) => rank);
  assert.deepEqual(
    ranks((probability) => probability),
    [1, 2, 4],
  );
  assert.deepEqual(ranks(Math.sqrt), [1, 2, 3, 4]); // at a high temperature
});
