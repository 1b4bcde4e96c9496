import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createScreen } from "../../../explorer/components/dom/js/store.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import {
  createLoading,
  fetchAnswer,
  holds,
  isAnswer,
  offers,
  offersMethod,
  Refusal,
  type ServerlessResources,
} from "../../../explorer/components/trace/js/traceQuestions.ts";

Object.assign(globalThis, { requestAnimationFrame: () => 1, cancelAnimationFrame: () => {} });

/** Let what waits for nothing but promises go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function contextWith(options: object = {}) {
  const resources = { address: "trace/a", names: ["vectors"] };
  const pieces = { header: { resources, language: "zh" } };
  const context = { signal: new AbortController().signal, options, pieces };
  return context as unknown as TraceContext;
}

const read = (bytes: Uint8Array) => ({ first: bytes[0] });

test("an answer is fetched once, and a failure again after a while", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let works = false;
  const fetched = mock.fn(async (_: URL) => {
    if (!works) throw new TypeError("no connection");
    return { ok: true, arrayBuffer: async () => new Uint8Array([7]).buffer };
  });
  Object.assign(globalThis, { fetch: fetched, document: { baseURI: "file:///page/" } });
  const context = contextWith();
  const find = createLoading(context, "vectors", read);
  const screen = createScreen();
  const drawn: unknown[] = [];
  screen.show({ views: [() => drawn.push(find("cross/1/2"))] });
  screen.flush();
  assert.equal(find("cross/1/2"), "loading");
  await settle();
  assert.equal(find("cross/1/2"), "failed");
  assert.equal(fetched.mock.callCount(), 1);
  works = true;
  mock.timers.tick(5000);
  assert.equal(find("cross/1/2"), "loading");
  await settle();
  assert.deepEqual(find("cross/1/2"), { first: 7 });
  assert.deepEqual(find("cross/1/2"), { first: 7 });
  assert.equal(fetched.mock.callCount(), 2);
  screen.flush();
  assert.deepEqual(drawn, ["loading", { first: 7 }]);
  screen.stop();
  const asked = fetched.mock.calls.map((call) => call.arguments[0].pathname);
  assert.deepEqual(new Set(asked), new Set(["/page/trace/a/vectors/cross/1/2"]));
  context.pieces.header.resources = { address: "trace/b", names: ["vectors"] };
  assert.equal(find("cross/1/2"), "loading"); // the same place of another trace
  mock.timers.reset();
});

test("without a server, each trace is answered by its own source", async () => {
  const answer: ((bytes: Uint8Array) => void)[] = [];
  const source = (): ServerlessResources => ({
    held: null,
    fetch: (name, place) => {
      assert.deepEqual([name, place], ["vectors", "cross/1/2"]);
      return new Promise((resolve) => answer.push(resolve));
    },
  });
  const context = contextWith({ resources: source() });
  const find = createLoading(context, "vectors", read);
  assert.equal(find("cross/1/2"), "loading");
  context.options.resources = source();
  assert.equal(find("cross/1/2"), "loading");
  answer[0](new Uint8Array([1]));
  await settle();
  assert.equal(find("cross/1/2"), "loading"); // the first one answers for the trace before
  answer[1](new Uint8Array([2]));
  await settle();
  assert.deepEqual(find("cross/1/2"), { first: 2 });
});

test("a server that has dropped a trace is told, and asked again until it has it", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const answers = [{ status: 404 }, { status: 429 }, { ok: true, arrayBuffer: async () => [8] }];
  Object.assign(globalThis, {
    fetch: async () => answers.shift(),
    document: { baseURI: "file:///page/" },
  });
  const missing = mock.fn();
  const waiting = fetchAnswer(contextWith({ onMissing: missing }), "attribution", "");
  for (const pause of [300, 1000]) {
    await settle();
    mock.timers.tick(pause);
  }
  assert.deepEqual(await waiting, new Uint8Array([8]));
  assert.equal(missing.mock.callCount(), 1);
  mock.timers.reset();
});

test("what a model does not allow is said in a sentence, and not asked for again", async () => {
  const asked: string[] = [];
  const fetched = mock.fn(async (_: URL, { headers }: { headers: Record<string, string> }) => {
    asked.push(headers["Accept-Language"]);
    return { ok: false, status: 422, text: async () => "no sum" };
  });
  Object.assign(globalThis, { fetch: fetched, document: { baseURI: "file:///page/" } });
  const missing = mock.fn();
  const find = createLoading(contextWith({ onMissing: missing }), "attribution", read);
  assert.equal(find(""), "loading");
  await settle();
  const found = find("");
  assert.equal(isAnswer(found), false);
  assert.ok(found instanceof Refusal);
  assert.equal(found.message, "no sum");
  assert.deepEqual([fetched.mock.callCount(), missing.mock.callCount(), asked], [1, 0, ["zh"]]);
});

test("methods are offered by name", () => {
  const resources = { address: "trace/a", names: ["contributions"], methods: ["rollout"] };
  const context = { pieces: { header: { resources } as any } };
  const offered = ["rollout", "leave_one_out"].map((name) => offersMethod(context, name));
  assert.deepEqual(offered, [true, false]);
  assert.equal(offersMethod(contextWith(), "rollout"), false);
});

test("a trace offers what its header names, and a saved page holds a part of it", () => {
  const context = contextWith();
  assert.deepEqual([offers(context, "vectors"), offers(context, "score")], [true, false]);
  assert.equal(offers({ pieces: { header: {} as any } }, "vectors"), false);
  assert.equal(holds(context, "vectors", "cross/1/2"), true); // the server has all
  context.options.resources = { held: ["vectors/cross/1/2"], fetch: () => assert.fail() };
  const held = ["cross/1/2", "cross/1/3"].map((place) => holds(context, "vectors", place));
  assert.deepEqual(held, [true, false]);
});
