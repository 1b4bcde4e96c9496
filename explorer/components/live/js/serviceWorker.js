/**
 * Keeps a site that was visited, so that it opens offline. Models are kept by the page itself, which
 * knows when they are whole. The version of the site is the query of this file's address.
 */

const KEPT = "attention-explorer-site";
const NAME = `${KEPT}${location.search}`;
const FIRST = ["./", "live.js", "live.css", "plotly.min.js"];

/** What a service worker has and a page has not, as far as it is used here. */
const worker =
  /** @type {{skipWaiting: () => Promise<void>, clients: {claim: () => Promise<void>}}} */ (
    /** @type {unknown} */ (self)
  );

/**
 * @typedef {Event & {waitUntil: (done: Promise<unknown>) => void}} LifeEvent
 * @typedef {Event & {request: Request, respondWith: (answer: Promise<Response>) => void}} AskedEvent
 */

self.addEventListener("install", (event) => {
  const done = caches.open(NAME).then((cache) => cache.addAll(FIRST));
  /** @type {LifeEvent} */ (event).waitUntil(done.then(() => worker.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const done = caches
    .keys()
    .then((names) => names.filter((name) => name.startsWith(KEPT) && name !== NAME))
    .then((old) => Promise.all(old.map((name) => caches.delete(name))));
  /** @type {LifeEvent} */ (event).waitUntil(done.then(() => worker.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request, respondWith } = /** @type {AskedEvent} */ (event);
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.includes("/models/")) return;
  respondWith.call(event, request.mode === "navigate" ? newest(request) : kept(request));
});

/**
 * A page from the network, so that a new version is noticed; offline the one that was kept.
 * @param {Request} request
 */
async function newest(request) {
  try {
    return await fetchedAndKept(request);
  } catch (problem) {
    const found = await caches.match(request, { ignoreSearch: true });
    if (found) return found;
    throw problem;
  }
}

/** @param {Request} request */
async function kept(request) {
  const own = await (await caches.open(NAME)).match(request);
  return own ?? fetchedAndKept(request);
}

/** @param {Request} request */
async function fetchedAndKept(request) {
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(NAME)).put(request, answer.clone());
  return answer;
}
