import assert from "node:assert/strict";
import { test } from "node:test";
import { rangesOf } from "../../../explorer/components/map/js/headsNote.ts";
import { createHeadLoading } from "../../../explorer/components/trace/js/headLoading.ts";
import {
  createLoadedHeads,
  readMatrix,
} from "../../../explorer/components/trace/js/loadedHeads.ts";
import { MEAN } from "../../../explorer/components/trace/js/look.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import { HEADER, packPayload } from "./payloads.ts";

const SHAPE = { queries: 2, keys: 3, scale: 1 };
const CODES = [65535, 256, 1, 0, 513, 2];

function matrix(codes: number[]) {
  return packPayload(
    { packed: false, scale: 1 },
    { low: ["uint8", codes.map((code) => code & 255)], high: ["uint8", codes.map((c) => c >> 8)] },
  );
}

function largeTrace() {
  const site = { shape: [1, 2, 4, 6], scale: 1, removed: [], picture: [2, 3], reasons: [1] };
  const header = {
    ...HEADER,
    resources: { address: "trace/x", names: ["head"] },
    sites: { cross: { ...site, gold: [[0.25, 0.5]] } },
  };
  return readTrace(
    packPayload(header, {
      "cross.pictures": ["uint8", [0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 0]],
      "cross.pictures.closed": ["uint8", [0, 0, 1, 0, 0, 0]],
    }),
  );
}

test("the codes of a head are put together from their bytes", () => {
  const { weights, masked } = readMatrix(matrix(CODES), SHAPE);
  assert.deepEqual([...weights], CODES);
  assert.deepEqual([...masked], [0, 0, 0, 0, 0, 0]);
});

test("codes of unmasked cells are put back in their places", () => {
  const bytes = packPayload(
    { packed: true, scale: 1 },
    {
      low: ["uint8", [7, 8, 9]],
      high: ["uint8", [1, 0, 0]],
      closed: ["uint8", [0, 2, 2, 0, 0, 1]],
    },
  );
  const { weights, masked } = readMatrix(bytes, SHAPE);
  assert.deepEqual([...weights], [263, 0, 0, 8, 9, 0]);
  assert.deepEqual([...masked], [0, 2, 2, 0, 0, 1]);
});

test("a head with a scale of its own gets that of its site", () => {
  assert.deepEqual(
    [...readMatrix(matrix(CODES), { ...SHAPE, scale: 2 }).weights].slice(0, 2),
    [32768, 128],
  );
});

test("the heads used last stay when memory ends", () => {
  const heads = createLoadedHeads();
  const large = { queries: 4096, keys: 4096, scale: 1 }; // 48 MB each
  const bytes = packPayload(
    { packed: true, scale: 1 },
    {
      low: ["uint8", []],
      high: ["uint8", []],
      closed: ["uint8", new Uint8Array(4096 ** 2).fill(1)],
    },
  );
  for (const name of ["a", "b"]) heads.add(name, bytes, large);
  heads.get("a");
  heads.add("c", bytes, large);
  assert.deepEqual(
    ["a", "b", "c"].map((name) => heads.has(name)),
    [true, false, true],
  );
  assert.throws(() => heads.get("b"), /no weights of b/);
});

test("a large trace has pictures of all heads, and weights once they are added", () => {
  const trace = largeTrace();
  const { cross } = trace.sites;
  assert.ok(cross);
  const picture = cross.picture(0, 0);
  assert.deepEqual([picture.queries, picture.keys], [2, 3]);
  assert.deepEqual(
    [...picture.weights].map((code) => Math.round(Math.sqrt(code / 65535) * 255)),
    [0, 51, 102, 153, 204, 255],
  );
  assert.deepEqual([...cross.picture(0, 1).masked], [0, 0, 1, 0, 0, 0]);
  assert.equal(cross.nameOf(0, MEAN), "pieces/cross/0/mean");
  assert.deepEqual(cross.reasons, [1]);
  assert.equal(cross.has(0, 1), false);
  const codes = Array.from({ length: 24 }, (_, cell) => cell * 100);
  trace.heads?.add("pieces/cross/0/1", matrix(codes), cross);
  assert.ok(cross.has(0, 1));
  assert.deepEqual([...cross.weights(0, 1)], codes);
});

/** A context that shows a large trace, and the requests for weights, to be answered by a test. */
function loading() {
  const asked: Map<
    string,
    { answer: (codes: number[]) => void; fail: () => void; signal: AbortSignal }
  > = new Map();
  const pieces = largeTrace();
  const classes: Set<string> = new Set();
  const problems: string[] = [];
  const root = {
    classList: {
      toggle: (name: string, on: boolean) => (on ? classes.add(name) : classes.delete(name)),
      remove: (name: string) => classes.delete(name),
    },
    append: (node: { text: string }) => problems.push(node.text),
  };
  Object.assign(globalThis, {
    fetch: ({ pathname }: URL, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        const answer = (codes: number[]) =>
          resolve({ ok: true, arrayBuffer: async () => matrix(codes).buffer });
        const fail = () => reject(new Error(pathname));
        asked.set(pathname.replace("/trace/x/head/", ""), { answer, fail, signal });
      }),
    document: {
      baseURI: "file:///",
      createElement: () => ({
        dataset: {},
        setAttribute: () => {},
        append(text: string) {
          Object.assign(this, { text });
        },
        remove: () => problems.pop(),
      }),
    },
  });
  const context = {
    root,
    signal: new AbortController().signal,
    say: (key: string) => key,
    options: {},
  } as unknown as TraceContext;
  return { context, pieces, show: createHeadLoading(context), asked, classes, problems };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const WEIGHTS = Array.from({ length: 24 }, (_, cell) => cell);
const head = (head: number) =>
  ({ site: "cross", layer: 0, head, shows: "weight", words: false }) as const;

test("a head is shown when its weights are there, and from then on at once", async () => {
  const { pieces, show, asked, classes } = loading();
  let shown = 0;
  show(pieces, head(0), () => (shown += 1));
  assert.deepEqual([shown, [...classes]], [0, ["loading"]]);
  asked.get("pieces/cross/0/0")?.answer(WEIGHTS);
  await settled();
  assert.deepEqual([shown, [...classes]], [1, []]);
  show(pieces, head(0), () => (shown += 1));
  assert.deepEqual([shown, asked.size], [2, 1]);
});

test("the head asked for last is shown, and an earlier one not any more", async () => {
  const { pieces, show, asked } = loading();
  const shown: number[] = [];
  for (const number of [0, 1]) show(pieces, head(number), () => shown.push(number));
  assert.ok(asked.get("pieces/cross/0/0")?.signal.aborted);
  asked.get("pieces/cross/0/1")?.answer(WEIGHTS);
  asked.get("pieces/cross/0/0")?.answer(WEIGHTS);
  await settled();
  assert.deepEqual(shown, [1]);
});

test("weights that do not come leave the picture, and one sentence says so", async () => {
  const { context, pieces, show, asked, classes, problems } = loading();
  show(pieces, head(0), () => assert.fail("nothing to show"));
  asked.get("pieces/cross/0/0")?.fail();
  await settled();
  assert.deepEqual([problems, [...classes]], [["not_loaded"], []]);
  context.options.resources = {
    held: ["head/pieces/cross/0/1"],
    fetch: async () => assert.fail("not in the page"),
  };
  show(pieces, head(0), () => assert.fail("nothing to show"));
  await settled();
  assert.deepEqual(problems, ["not_in_page"]);
});

test("layers beside each other are a range", () => {
  assert.equal(rangesOf([0, 1, 2, 3]), "L0–L3");
  assert.equal(rangesOf([0, 5, 6, 11]), "L0, L5–L6, L11");
});
