import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { TraceQueue } from "../../../explorer/components/live/js/traceQueue.ts";

const question: (text: string, language?: string, model?: string) => any = (
  text,
  language = "en",
  model = "reverse",
) => ({
  request: { model, text, pad: 0, forced: [], interventions: [] },
  shown: { language },
});

export type Asked = {
  text: string;
  resolve: (answer: any) => void;
  reject: (error: Error) => void;
};

/** A worker whose answers are given by hand. */
function worker() {
  const asked: Asked[] = [];
  const client: any = {
    ask: (_kind: string, { request }: any) =>
      new Promise((resolve, reject) => asked.push({ text: request.text, resolve, reject })),
  };
  return { client, asked };
}

const SENT = { wanted: () => true, onText: () => {} };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A person pauses. */
const pause = async () => {
  mock.timers.tick(100);
  await settled();
};

async function afterTexts(
  client: any,
  asked: Asked[],
  texts: string[] | undefined = ["1 2 3"],
): Promise<TraceQueue> {
  const queue = new TraceQueue();
  for (const text of texts) {
    const answer = queue.trace(client, question(text), SENT);
    await settled();
    asked.at(-1)?.resolve(text);
    assert.equal(await answer, text);
  }
  asked.length = 0;
  return queue;
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("a text that was typed has its answer when it is sent", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  for (const text of ["a", "a b"]) queue.traceAhead(client, question(text));
  mock.timers.tick(99);
  assert.equal(asked.length, 0);
  await pause();
  assert.deepEqual(
    asked.map(({ text }) => text),
    ["a b"],
  ); // not what was there between
  asked[0].resolve("answer");
  assert.equal(await queue.trace(client, question("a b"), SENT), "answer");
  assert.equal(asked.length, 1);
});

test("a text that is sent while it is traced ahead waits for that", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.traceAhead(client, question("a"));
  await pause();
  const answer = queue.trace(client, question("a"), SENT);
  await settled();
  asked[0].resolve("answer");
  assert.equal(await answer, "answer");
  assert.equal(asked.length, 1);
});

test("another text, or the same one in another language, is asked for", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  for (const [typed, sent] of [
    [question("a"), question("b")],
    [question("a"), question("a", "zh")],
  ]) {
    queue.traceAhead(client, typed);
    await pause();
    asked.at(-1)?.resolve("ahead");
    const answer = queue.trace(client, sent, SENT);
    await settled();
    asked.at(-1)?.resolve("sent");
    assert.equal(await answer, "sent");
  }
});

test("an answer serves once", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.traceAhead(client, question("a"));
  await pause();
  asked[0].resolve("ahead"); // its bytes may be read once
  await queue.trace(client, question("a"), SENT);
  queue.trace(client, question("a"), SENT);
  await settled();
  assert.equal(asked.length, 2);
});

test("a text sent before the pause is traced once", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.traceAhead(client, question("a"));
  queue.trace(client, question("a"), SENT);
  await settled();
  await pause();
  assert.equal(asked.length, 1);
});

test("what is typed while a text waits does not take its place", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.traceAhead(client, question("a"));
  await pause();
  const answer = queue.trace(client, question("a b"), SENT);
  queue.traceAhead(client, question("a b c"));
  await pause();
  asked[0].resolve("ahead");
  await settled();
  assert.deepEqual(
    asked.map(({ text }) => text),
    ["a", "a b", "a b c"],
  );
  asked[1].resolve("sent");
  assert.equal(await answer, "sent");
});

test("a text that nobody waits for when its turn comes is not asked for", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.trace(client, question("a"), SENT);
  await settled();
  const between = queue.trace(client, question("b"), { ...SENT, wanted: () => false });
  const last = queue.trace(client, question("c"), SENT);
  asked[0].resolve("first");
  await settled();
  asked[1].resolve("last");
  assert.deepEqual([await between, await last], [null, "last"]);
  assert.deepEqual(
    asked.map(({ text }) => text),
    ["a", "c"],
  );
});

test("a text that cannot be read is refused when it is sent, not before", async () => {
  const { client, asked } = worker();
  const queue = await afterTexts(client, asked);
  queue.traceAhead(client, question("?"));
  await pause();
  asked[0].reject(new Error("unknown"));
  await settled();
  await assert.rejects(queue.trace(client, question("?"), SENT), /unknown/);
  const answer = queue.trace(client, question("a"), SENT);
  await settled();
  asked[1].resolve("sent");
  assert.equal(await answer, "sent");
});

test("a text that would take long is not traced ahead", async () => {
  const { client, asked } = worker();
  const queue = new TraceQueue();
  queue.traceAhead(client, question("a"));
  await pause();
  assert.equal(asked.length, 0); // of a model whose pace is not known

  const now = mock.method(performance, "now", () => 0);
  const answer = queue.trace(client, question("a b c d e f"), SENT);
  await settled();
  now.mock.mockImplementation(() => 110); // ms for 11 characters
  asked[0].resolve("");
  await answer;
  now.mock.restore();
  queue.traceAhead(client, question("a".repeat(21)));
  await pause();
  assert.equal(asked.length, 1);
  queue.traceAhead(client, question("a".repeat(20)));
  await pause();
  assert.equal(asked.length, 2);
});
