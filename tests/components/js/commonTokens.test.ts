import assert from "node:assert/strict";
import { test } from "node:test";
import { commonTokens } from "../../../explorer/components/player/js/commonTokens.ts";

/** What is common as itself, the rest as ".". */
const common: (one: string, other: string) => string[] = (one, other) => {
  const tokens = [one, other].map((text) => [...text]);
  return commonTokens(tokens[0], tokens[1]).map((flags, at) =>
    tokens[at].map((token, index) => (flags[index] ? token : ".")).join(""),
  );
};

test("what follows an inserted or a left out token is common", () => {
  assert.deepEqual(common("41937$", "419937$"), ["41937$", "419.37$"]);
  assert.deepEqual(common("41937$", "4937$"), ["4.937$", "4937$"]);
  assert.deepEqual(common("41937$", "41a37$"), ["41.37$", "41.37$"]);
});

test("outputs without a common token, equal ones and empty ones", () => {
  assert.deepEqual(common("abc", "xy"), ["...", ".."]);
  assert.deepEqual(common("abc", "abc"), ["abc", "abc"]);
  assert.deepEqual(common("", "ab"), ["", ".."]);
});

test("as many tokens are common as can be, in the same order", () => {
  let seed = 1;
  const draw = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const text = () => Array.from({ length: draw(7) }, () => "abc"[draw(3)]).join("");
  for (let round = 0; round < 300; round++) {
    const [one, other] = [text(), text()];
    const kept = common(one, other).map((marked) => marked.replaceAll(".", ""));
    assert.equal(kept[0], kept[1]);
    assert.equal(kept[0].length, longest(one, other));
  }
});

/** By trying every subsequence. */
function longest(one: string, other: string): number {
  let most = 0;
  for (let chosen = 0; chosen < 2 ** one.length; chosen++) {
    const kept = [...one].filter((_, index) => (chosen >> index) & 1);
    let found = 0;
    for (const token of other) if (token === kept[found]) found++;
    if (found === kept.length) most = Math.max(most, found);
  }
  return most;
}
