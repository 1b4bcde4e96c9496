import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.ts";
import { serverBackend } from "../../../explorer/components/live/js/serverBackend.ts";

const TOLD = { wanted: () => true, onText: () => {} };
const question: (text: string) => any = (text) => ({
  request: { model: "reverse", text, pad: 0, forced: [], interventions: [] },
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
  const backend = serverBackend("trace", "token");
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
  const backend = serverBackend("trace", "");
  await typed(backend, "1 2");
  assert.equal(asked.length, 0);
  assert.equal(backend.has("reverse"), false);
});

test("a refusal is an error of the model, and any other status says what it is", async () => {
  const backend = await afterOne();
  const refused = backend.trace(question("q"), TOLD);
  asked[1].answer(Response.json({ key: "unknown_symbol", facts: { symbol: "q" } }));
  await assert.rejects(refused, new ModelError("unknown_symbol", { symbol: "q" }));
  const gone = backend.trace(question("1"), TOLD);
  asked[2].answer(new Response(null, { status: 429, statusText: "Too Many Requests" }));
  await assert.rejects(gone, /429 Too Many Requests/);
});

test("nobody waits for what is no longer wanted", async () => {
  const backend = await afterOne();
  const left = backend.trace(question("1"), { ...TOLD, wanted: () => false });
  asked[1].answer(bytes("left"));
  assert.equal(await left, null);
});
