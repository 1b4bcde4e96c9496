import assert from "node:assert/strict";
import { test } from "node:test";
import { createAddress } from "../../../explorer/components/training_replay/js/address.js";

/**
 * The addresses that a replay writes at once when its run grows.
 * @param {string} address of the window
 * @param {object} [state]
 */
function written(address, state = {}) {
  /** @type {string[]} */
  const found = [];
  const history = {
    state: null,
    replaceState: (/** @type {any[]} */ ...[, , url]) => found.push(String(url)),
  };
  const location = { href: address, search: new URL(address).search };
  const setTimeout = (/** @type {() => void} */ write) => write();
  Object.assign(globalThis, { window: { history, location, setTimeout } });
  const run = { key: "runs/leaky-1@17", moments: [{ step: 25 }, { step: 50 }] };
  const replay = { at: 1, following: true, headChosen: false, ...state };
  const { signal } = new AbortController();
  const context = /** @type {any} */ ({ run, state: replay, selected: null, signal });
  createAddress(context).update(new Set(["run"]));
  return found;
}

test("moment and head of a run are written, with its name", () => {
  const [address] = written("http://localhost/train", { at: 0, following: false });
  assert.equal(address, "http://localhost/train?moment=25&run=runs%2Fleaky-1");
  const all = "http://localhost/train?run=runs%2Fleaky-1&head=1.2";
  assert.deepEqual(written(all), ["http://localhost/train?run=runs%2Fleaky-1"]);
});

test("the address of the next page is left as it is", () => {
  const next = "http://localhost/train?model=leaky-1&text=7+3&pad=0&site=decoder&layer=0&head=1";
  assert.deepEqual(written(next), []);
  assert.deepEqual(written(next, { at: 0, following: false }), []);
});
