import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.ts";
import { serverBackend } from "../../../explorer/components/live/js/serverBackend.ts";
import { ServerError } from "../../../explorer/components/live/js/serverError.ts";

const TOLD = { wanted: () => true, onText: () => {} };
const question: (text: string) => any = (text) => ({
  request: {
    model: "reverse",
    text,
    pad: 0,
    forced: [],
    interventions: [],
    pair: null,
    reading: null,
  },
  shown: { language: "en", project: "" },
  opening: {},
  view: {},
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

type Asked = { address: string; visitor: string; text: string; answer: (given: Response) => void };
let asked: Asked[] = [];

beforeEach(() => {
  asked = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, {
    document: { baseURI: "http://here/school/" },
    fetch: (address: URL, { headers, body }: any) =>
      new Promise((answer) => {
        const { text } = JSON.parse(body);
        asked.push({ address: address.href, visitor: headers["X-Visitor"], text, answer });
      }),
  });
});

const bytes = (text: string) => new Response(new TextEncoder().encode(text));
const read = (found: any) => new TextDecoder().decode(found?.bytes);

/** A backend whose model is known to be quick. */
async function afterOne() {
  const backend = serverBackend({ server: "trace", visitor: "token" });
  const first = backend.trace(question("1 2 3 4 5 6 7 8 9"), TOLD);
  asked[0].answer(bytes("first"));
  assert.equal(read(await first), "first");
  return backend;
}

/** A person types, and pauses. */
async function typed(backend: Awaited<ReturnType<typeof afterOne>>, text: string) {
  backend.traceAhead(question(text));
  mock.timers.tick(100);
  await settled();
}

test("a text is asked of the server once, below the path of the app, with the person's token", async () => {
  await afterOne();
  const { address, visitor } = asked[0];
  assert.deepEqual([address, visitor], ["http://here/school/trace", "token"]);
});

test("a text that was asked for before it was sent is not asked for again", async () => {
  const backend = await afterOne();
  await typed(backend, "4 5");
  const sent = backend.trace(question("4 5"), TOLD);
  asked[1].answer(bytes("ahead"));
  assert.equal(read(await sent), "ahead");
  assert.equal(asked.length, 2);
});

test("one text at a time is asked for ahead, and a text that is sent does not wait for it", async () => {
  const backend = await afterOne();
  await typed(backend, "4");
  await typed(backend, "4 5");
  await typed(backend, "4 5 6");
  assert.deepEqual(
    asked.slice(1).map(({ text }) => text),
    ["4"],
  );
  const sent = backend.trace(question("4 5 6 7"), TOLD);
  asked[2].answer(bytes("sent"));
  assert.equal(read(await sent), "sent");
  asked[1].answer(bytes("late"));
  await settled();
  assert.equal(asked.length, 3);
});

test("before a model has answered, nothing is asked for ahead", async () => {
  const backend = serverBackend({ server: "trace", visitor: "" });
  await typed(backend, "1 2");
  assert.equal(asked.length, 0);
  assert.equal(backend.has("reverse"), false);
});

test("a refusal is an error of the model, which may be open", async () => {
  const backend = serverBackend({ server: "trace", visitor: "token" });
  for (const opened of [false, true]) {
    const refused = backend.trace(question("q"), TOLD);
    const answer = { key: "unknown_symbol", facts: { symbol: "q" }, opened };
    asked[asked.length - 1].answer(Response.json(answer));
    await assert.rejects(refused, new ModelError("unknown_symbol", { symbol: "q" }));
    assert.equal(backend.has("reverse"), opened);
  }
});

test("where the server answers nothing, the error says why", async () => {
  const backend = await afterOne();
  for (const [status, key, facts] of [
    [404, "model_deleted", { name: "reverse" }],
    [429, "server_busy", {}],
    [500, "server_refused", { status: 500 }],
  ] as [number, string, object][]) {
    const refused = backend.trace(question("1"), TOLD);
    asked[asked.length - 1].answer(new Response(null, { status }));
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof ServerError);
      assert.deepEqual([error.key, error.facts], [key, facts]);
      return true;
    });
  }
});

test("a server that is not there, or goes within its answer, does not answer", async () => {
  const backend = serverBackend({ server: "trace", visitor: "token" });
  const lost = new ReadableStream({ start: (parts) => parts.error(new TypeError("lost")) });
  for (const answer of [
    () => Promise.reject(new TypeError("Failed to fetch")),
    () => Promise.resolve(new Response(lost)),
  ]) {
    Object.assign(globalThis, { fetch: answer });
    await assert.rejects(backend.trace(question("1"), TOLD), new ServerError("server_away"));
    assert.equal(backend.has("reverse"), false);
  }
});

test("nobody waits for what is no longer wanted", async () => {
  const backend = await afterOne();
  const left = backend.trace(question("1"), { ...TOLD, wanted: () => false });
  asked[1].answer(bytes("left"));
  assert.equal(await left, null);
});

test("it knows how long the last text of a model took", async () => {
  const now = mock.method(performance, "now", () => 0);
  const backend = serverBackend({ server: "trace", visitor: "token" });
  assert.equal(backend.took("reverse"), null);
  const sent = backend.trace(question("1 2"), TOLD);
  now.mock.mockImplementation(() => 4200);
  asked[0].answer(bytes("first"));
  await sent;
  assert.deepEqual([backend.took("reverse"), backend.took("sort")], [4.2, null]);
  now.mock.restore();
});
