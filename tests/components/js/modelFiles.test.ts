import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.ts";
import { openModel } from "../../../explorer/components/live/js/modelFiles.ts";
import { scriptOf, textOf } from "./modelScripts.ts";

const WHOLE = Uint8Array.from([1, 2, 3, 4]);
const SCRIPT = scriptOf(WHOLE);
const BASE = "https://host/site/";
const FILE = {
  name: "re verse",
  bytes: WHOLE.length,
  scriptBytes: SCRIPT.length,
  sha256: createHash("sha256").update(WHOLE).digest("hex"),
};
const ADDRESS = `${BASE}models/re%20verse.js?${FILE.sha256}`;

let stored: Map<string, Response>; // what is kept, by address

let cache: Record<string, unknown>; // of a cache, as far as it is used

function setGlobals(values: Record<string, unknown>) {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

async function open(data: Uint8Array<ArrayBuffer>) {
  const digest = createHash("sha256").update(data).digest("hex");
  structuredClone(data, { transfer: [data.buffer] }); // as the worker takes it
  if (digest !== FILE.sha256) throw new ModelError("damaged_checkpoint", { name: FILE.name });
}

const opened = () => openModel(FILE, open, () => {});

const answering = (body: string) => setGlobals({ fetch: async () => new Response(body) });

beforeEach(() => {
  stored = new Map();
  cache = {
    match: async (address: URL) => stored.get(String(address))?.clone(),
    put: async (address: URL, answer: Response) => stored.set(String(address), answer),
    delete: async (address: URL, options: CacheQueryOptions) => {
      const bare = (one: string) => (options?.ignoreSearch ? one.split("?")[0] : one);
      for (const one of stored.keys()) if (bare(one) === bare(String(address))) stored.delete(one);
      return true;
    },
  };
  setGlobals({
    document: { querySelectorAll: () => [], baseURI: BASE },
    location: { protocol: "https:" },
    caches: { open: async () => cache },
  });
});

afterEach(() => setGlobals({ document: undefined, location: undefined, caches: undefined }));

test("a whole file is kept, in place of an earlier version of it alone", async () => {
  const earlier = `${BASE}models/re%20verse.js?0`;
  const elsewhere = "https://host/other/models/re%20verse.js?0";
  for (const one of [earlier, elsewhere]) stored.set(one, new Response("old"));
  answering(SCRIPT);
  await opened();
  assert.deepEqual([...stored.keys()], [elsewhere, ADDRESS]);
  setGlobals({ fetch: () => Promise.reject(new TypeError("offline")) });
  await opened();
});

for (const [what, body] of [
  ["another page", "<h1>"],
  ["a longer page", `<h1>${"Log in".repeat(9)}</h1>`],
  ["a file that was cut off", SCRIPT.slice(0, -8)],
]) {
  test(`${what} in place of the file is refused and not kept`, async () => {
    answering(body);
    await assert.rejects(opened, { key: "damaged_checkpoint" });
    assert.equal(stored.size, 0);
    answering(SCRIPT);
    await opened();
  });
}

test("what was kept and is damaged is fetched again, or deleted", async () => {
  stored.set(ADDRESS, new Response("<h1>"));
  setGlobals({ fetch: () => Promise.reject(new TypeError("offline")) });
  await assert.rejects(opened, { key: "model_not_reached" });
  assert.equal(stored.size, 0);
  stored.set(ADDRESS, new Response("<h1>"));
  answering(SCRIPT);
  await opened();
  assert.deepEqual([...stored.keys()], [ADDRESS]);
});

test("a model that this browser cannot compute stays where it is kept", async () => {
  stored.set(ADDRESS, new Response(WHOLE));
  const refuse = () => Promise.reject(new ModelError("no_webassembly"));
  await assert.rejects(() => openModel(FILE, refuse, () => {}), { key: "no_webassembly" });
  assert.equal(stored.size, 1);
});

test("a browser without usable storage fetches", async () => {
  const no = () => Promise.reject(new Error("SecurityError"));
  answering(SCRIPT);
  setGlobals({ caches: { open: no } });
  await opened();
  for (const name of ["match", "put", "delete"]) {
    setGlobals({ caches: { open: async () => ({ ...cache, [name]: no }) } });
    await opened();
  }
  setGlobals({ caches: undefined });
  await opened();
  const get = () => {
    throw new Error("SecurityError");
  };
  Object.defineProperty(globalThis, "caches", { get, configurable: true });
  await opened();
});

test("the share of a file that has come is of its script", async () => {
  const parts = [SCRIPT.slice(0, 5), SCRIPT.slice(5)].map((part) => new TextEncoder().encode(part));
  const body = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  setGlobals({ fetch: async () => new Response(body) });
  const shares: number[] = [];
  await openModel(FILE, open, (share) => shares.push(share));
  assert.deepEqual(shares, [5 / SCRIPT.length, 1]);
});

test("of a file that the host does not have, the sentence says so", async () => {
  setGlobals({ fetch: async () => new Response("", { status: 404 }) });
  await assert.rejects(opened, { key: "model_not_there" });
});

test("each script from disk gives the model that it was asked for", async () => {
  const scripts: (EventTarget & { src?: string; onload?: () => void; remove: () => void })[] = [];
  const createElement = () => Object.assign(new EventTarget(), { remove: () => {} });
  const page = {
    querySelectorAll: () => [],
    createElement,
    head: { append: (script: any) => scripts.push(script) },
    currentScript: null as EventTarget | null,
  };
  const run = (script: any, byte: number) => {
    page.currentScript = script;
    (globalThis as any).receiveModel(textOf(Uint8Array.of(byte)));
    script.onload();
  };
  setGlobals({ window: globalThis, document: page, location: { protocol: "file:" } });
  const received: number[][] = [];
  const asked = ["one", "two", "three"].map((name) =>
    openModel(
      { ...FILE, name, bytes: 1 },
      async (data) => {
        received.push([...data]);
      },
      () => {},
    ),
  );
  assert.deepEqual(
    scripts.map(({ src }) => src),
    ["models/one.js", "models/two.js", "models/three.js"],
  );
  run(scripts[1], 2);
  run(scripts[0], 1);
  scripts[2].onload?.(); // it was cut off, so it did not run
  await Promise.all(asked.slice(0, 2));
  assert.deepEqual(received, [[2], [1]]);
  await assert.rejects(asked[2], { key: "damaged_checkpoint", facts: { name: "three" } });
});
