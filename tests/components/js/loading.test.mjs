import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createLoading } from "../../../explorer/components/inside/js/loading.js";

/** @import { TraceContext } from "../../../explorer/components/shared/js/traceContext.js" */

/** Let what waits for nothing but promises go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** @param {() => void} touched */
function contextWith(touched) {
  const context = { signal: new AbortController().signal, options: {}, touch: touched };
  return /** @type {TraceContext} */ (/** @type {unknown} */ (context));
}

test("an answer is fetched once, and a failure again after a while", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let works = false;
  const fetched = mock.fn(async () => {
    if (!works) throw new TypeError("no connection");
    return { ok: true, arrayBuffer: async () => new Uint8Array([7]).buffer };
  });
  Object.assign(globalThis, { fetch: fetched, document: { baseURI: "file:///page/" } });
  const touched = mock.fn();
  const find = createLoading(contextWith(touched), (bytes) => ({ first: bytes[0] }));
  assert.equal(find("inside/a"), "loading");
  assert.equal(find("inside/a"), "loading");
  await settle();
  assert.equal(find("inside/a"), "failed");
  assert.equal(fetched.mock.callCount(), 1);
  works = true;
  mock.timers.tick(5000);
  assert.equal(find("inside/a"), "loading");
  await settle();
  assert.deepEqual(find("inside/a"), { first: 7 });
  assert.deepEqual(find("inside/a"), { first: 7 });
  assert.equal(fetched.mock.callCount(), 2);
  assert.equal(touched.mock.callCount(), 2);
  mock.timers.reset();
});

test("where traces have one address, each is answered by its own source", async () => {
  const context = contextWith(mock.fn());
  /** @type {((bytes: Uint8Array) => void)[]} */
  const answer = [];
  const source = () => ({
    held: null,
    fetch: () =>
      new Promise((/** @type {(bytes: Uint8Array) => void} */ resolve) => answer.push(resolve)),
  });
  const find = createLoading(context, (bytes) => ({ first: bytes[0] }));
  context.options.inside = source();
  assert.equal(find("live/cross/1/2"), "loading");
  context.options.inside = source();
  assert.equal(find("live/cross/1/2"), "loading");
  answer[0](new Uint8Array([1]));
  await settle();
  assert.equal(find("live/cross/1/2"), "loading"); // the first one answers for the trace before
  answer[1](new Uint8Array([2]));
  await settle();
  assert.deepEqual(find("live/cross/1/2"), { first: 2 });
});
