import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const STATIC_SITE = "https://host/site/";
const NAME = "attention-explorer-site /site/?new";

let stored: Map<string, Map<string, Response>>; // of each cache, by address
let asked: Request[] = []; // that the host was asked
const listeners: Record<string, (event: any) => void> = {};
let offline = false;
let full = false;

function cacheCalled(name: string) {
  const answers = stored.get(name) ?? new Map();
  stored.set(name, answers);
  const address = (one: Request | string) =>
    new URL(typeof one === "string" ? one : one.url, STATIC_SITE).href;
  return {
    addAll: async (all: Request[]) => {
      for (const one of all) answers.set(one.url, await globalThis.fetch(one));
    },
    put: async (one: Request | string, answer: Response) => {
      if (full) throw new Error("QuotaExceededError");
      answers.set(address(one), answer);
    },
    match: async (one: Request | string) => answers.get(address(one))?.clone(),
  };
}

/** A request as a service worker sees it, relative to the static site. */
class StaticSiteRequest {
  constructor(
    address: string,
    { cache = "default", mode = "no-cors" }: { cache?: string; mode?: string } = {},
  ) {
    Object.assign(this, { url: new URL(address, STATIC_SITE).href, method: "GET", cache, mode });
  }
}

Object.assign(globalThis, {
  self: {
    addEventListener: (kind: string, listener: () => void) => {
      listeners[kind] = listener;
    },
    staticSiteVersion: "new",
    registration: { scope: STATIC_SITE },
    skipWaiting: async () => {},
    clients: { claim: async () => {} },
  },
  location: new URL(`${STATIC_SITE}service-worker.js`),
  Request: StaticSiteRequest,
  caches: {
    open: async (name: string) => cacheCalled(name),
    keys: async () => [...stored.keys()],
    delete: async (name: string) => stored.delete(name),
  },
  fetch: async (request: Request) => {
    if (offline) throw new TypeError("offline");
    asked.push(request);
    return new Response(request.url);
  },
});
const source = "../../../explorer/components/live/js/serviceWorker.ts"; // a script, not a module
await import(new URL(source, import.meta.url).href);

async function lived(kind: string) {
  const done: Promise<unknown>[] = [];
  listeners[kind]({ waitUntil: (one: Promise<unknown>) => done.push(one) });
  await Promise.all(done);
}

/** What the page gets; undefined where the worker leaves the request alone. */
async function answerTo(address: string, mode = "no-cors") {
  let answer: Promise<Response> | undefined;
  const later: Promise<unknown>[] = [];
  listeners.fetch({
    request: new StaticSiteRequest(address, { mode }),
    respondWith: (given: Promise<Response>) => {
      answer = given;
    },
    waitUntil: (one: Promise<unknown>) => later.push(one),
  });
  const given = await answer;
  await Promise.all(later);
  return given;
}

/** The text of it. */
async function answered(address: string, mode?: string) {
  return (await answerTo(address, mode))?.text();
}

beforeEach(() => {
  [stored, asked, offline, full] = [new Map(), [], false, false];
});

test("a new version asks the host, not the browser's own cache", async () => {
  const first = ["", "not-visited.html", "app.webmanifest", "icon-192.png", "icon-512.png"];
  const versioned = ["live.js?new", "live.css?new", "plotly.min.js?new"];
  await lived("install");
  assert.deepEqual(
    asked.map(({ url, cache }) => [url, cache]),
    [...first, ...versioned].map((name) => [STATIC_SITE + name, "reload"]),
  );
});

test("earlier versions of this static site alone are deleted", async () => {
  const others = ["attention-explorer-site /other/?old", "attention-explorer-site /site/two/?old"];
  for (const name of [NAME, "attention-explorer-site /site/?old", ...others]) cacheCalled(name);
  await lived("activate");
  assert.deepEqual([...stored.keys()], [NAME, ...others]);
});

test("offline, both addresses of the first page open, a visited page, and a sentence for others", async () => {
  await lived("install");
  await answered("training.en.html", "navigate");
  offline = true;
  for (const name of ["", "index.html"])
    assert.equal(await answered(name, "navigate"), STATIC_SITE);
  assert.equal(await answered("live.js?new"), `${STATIC_SITE}live.js?new`);
  assert.equal(await answered("training.en.html", "navigate"), `${STATIC_SITE}training.en.html`);
  const elsewhere = await answerTo("lessons/the-mask.en.html", "navigate");
  assert.equal(elsewhere?.headers.get("location"), `${STATIC_SITE}not-visited.html`);
  assert.equal(await answered("not-visited.html", "navigate"), `${STATIC_SITE}not-visited.html`);
});

test("the first page is kept once, in its newest version", async () => {
  await lived("install");
  await answered("index.html", "navigate");
  offline = true;
  assert.equal(await answered("", "navigate"), `${STATIC_SITE}index.html`); // that came last
});

test("a page of a newer version gets its own files, not those that were kept", async () => {
  await lived("install");
  asked = [];
  assert.equal(await answered("live.js?new"), `${STATIC_SITE}live.js?new`);
  assert.deepEqual(asked, []);
  assert.equal(await answered("live.js?newer"), `${STATIC_SITE}live.js?newer`);
  assert.equal(asked.length, 1);
});

test("a full storage takes no answer away", async () => {
  full = true;
  assert.equal(await answered("", "navigate"), STATIC_SITE);
  assert.equal(await answered("live.js"), `${STATIC_SITE}live.js`);
});

test("models, which the page keeps itself, and other origins are left alone", async () => {
  assert.equal(await answered("models/reverse.js"), undefined);
  assert.equal(await answered("https://elsewhere/live.js"), undefined);
  assert.equal(await answered("https://host/models/live.js"), "https://host/models/live.js");
});
