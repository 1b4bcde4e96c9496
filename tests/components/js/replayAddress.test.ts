import assert from "node:assert/strict";
import { test } from "node:test";
import { createAddress } from "../../../explorer/components/training_replay/js/address.ts";

/**
 * The addresses that a replay writes at once when its run grows.
 * @param address of the window
 */
function written(address: string, state: object = {}) {
  const found: string[] = [];
  const history = {
    state: null,
    replaceState: (...[, , url]: any[]) => found.push(String(url)),
  };
  const location = { href: address, search: new URL(address).search };
  const setTimeout = (write: () => void) => write();
  Object.assign(globalThis, { window: { history, location, setTimeout } });
  const run = { key: "runs/leaky-1@17", moments: [{ step: 25 }, { step: 50 }] };
  const replay = { at: 1, following: true, headChosen: false, ...state };
  const { signal } = new AbortController();
  const context = { run, state: replay, selected: null, signal } as any;
  for (const view of createAddress(context).views ?? []) view();
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
