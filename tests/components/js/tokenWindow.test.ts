import assert from "node:assert/strict";
import { test } from "node:test";
import {
  nextWindow,
  windowAround,
  windowFrom,
} from "../../../explorer/components/player/js/tokenWindow.ts";

const NOTHING = { first: 0, stop: 0 };
const LONG = 2048;

test("a short text is shown whole, wherever the step is", () => {
  for (const wanted of [-1, 0, 50, 99])
    assert.deepEqual(windowAround(100, wanted, NOTHING), { first: 0, stop: 100 });
});

test("every step of a long text finds its token well inside a window of one length", () => {
  let before = windowAround(LONG, -1, NOTHING);
  const length = before.stop - before.first;
  assert.equal(before.first, 0);
  let moves = 0;
  for (let wanted = 0; wanted < LONG; wanted += 1) {
    const now = windowAround(LONG, wanted, before);
    assert.equal(now.stop - now.first, length);
    assert.ok(now.first === 0 || wanted - now.first >= 24);
    assert.ok(now.stop === LONG || now.stop - wanted > 24);
    moves += now === before ? 0 : 1;
    before = now;
  }
  assert.equal(before.stop, LONG);
  assert.ok(moves < LONG / 30, "few steps move the window");
});

test("without a token in view the window stays; of another length of text it is another one", () => {
  const middle = windowAround(LONG, 1000, NOTHING);
  assert.equal(windowAround(LONG, -1, middle), middle);
  assert.deepEqual(windowAround(60, -1, middle), { first: 0, stop: 60 });
});

test("turning pages overlaps by a line, reaches both ends and goes no further", () => {
  let at = windowFrom(300, 0);
  const stops = [];
  while (at.stop < 300) {
    const next = nextWindow(300, at, true);
    assert.ok(next.first > at.first && next.first < at.stop);
    at = next;
    stops.push(at.stop);
  }
  assert.equal(stops.at(-1), 300);
  while (at.first > 0) at = nextWindow(300, at, false);
  assert.deepEqual(at, windowFrom(300, 0));
});
