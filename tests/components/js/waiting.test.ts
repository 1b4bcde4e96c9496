import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { Backend } from "../../../explorer/components/live/js/backend.ts";
import { waitedSentence } from "../../../explorer/components/live/js/messages.ts";
import type { PageData } from "../../../explorer/components/live/js/pageData.ts";
import { createPageState } from "../../../explorer/components/live/js/pageState.ts";
import type { PageUse } from "../../../explorer/components/live/js/pageUse.ts";
import { createWaiting } from "../../../explorer/components/live/js/waiting.ts";

const MODEL: any = { name: "large", examples: [{ text: "1 2", hint: {} }], library: true };
const live = { waited: "{seconds} s", waited_of: "{seconds} s of {last} s" };
const DATA = { models: [MODEL], strings: { en: { live } } } as unknown as PageData;

/** A page that waits for a text. @param took seconds, for the last text */
function waiting(took: number | null) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const store = createPageState(DATA, "en");
  const backend = { has: () => true, progress: () => null, took: () => took } as unknown as Backend;
  const waits = createWaiting(store, backend, { begin() {}, begun: () => true } as PageUse);
  waits.begin(store.values.asked);
  const said = () => waitedSentence(store.values, DATA, "en");
  return { waits, store, said };
}

test("who waits longer than a moment is told for how long", () => {
  const { said } = waiting(null);
  mock.timers.tick(1900);
  assert.equal(said(), null);
  mock.timers.tick(5100);
  assert.equal(said(), "7 s");
});

test("beside it stands what the last text of the model took", () => {
  const { said } = waiting(11.6);
  mock.timers.tick(3000);
  assert.equal(said(), "3 s of 12 s");
});

test("of a quick model nothing is said of the last text", () => {
  const { said } = waiting(0.2);
  mock.timers.tick(3000);
  assert.equal(said(), "3 s");
});

test("the clock stops with the wait, and begins anew with the next text", () => {
  const { waits, store, said } = waiting(null);
  mock.timers.tick(5000);
  waits.end();
  mock.timers.tick(5000);
  assert.deepEqual([store.values.waited, said()], [5, null]);
  waits.begin(store.values.asked);
  mock.timers.tick(2000);
  assert.equal(said(), "2 s");
});

test("nothing is added to a text that is shown as it is decoded, or to a file that comes", () => {
  const { store, said } = waiting(null);
  mock.timers.tick(3000);
  store.set({ decoded: "4 1" });
  assert.equal(said(), null);
  store.set({ decoded: "", loaded: { percent: 40, size: "8" } });
  assert.equal(said(), null);
});
