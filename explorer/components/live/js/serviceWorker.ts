/**
 * Keeps a static site that was visited, so that it works offline. Models are kept by the page
 * itself, which knows when they are whole. `explorer/components/static_site_files.py` writes the
 * version of the static site before this file: to a browser, another version is another service
 * worker.
 */

/** What a service worker has and a page has not, as far as it is used here. */

type StaticSiteWorker = {
  staticSiteVersion: string;
  registration: { scope: string };
  skipWaiting: () => Promise<void>;
  clients: { claim: () => Promise<void> };
};

type LifeEvent = Event & { waitUntil: (done: Promise<unknown>) => void };

type AskedEvent = LifeEvent & {
  request: Request;
  respondWith: (answer: Promise<Response>) => void;
};

const worker = self as unknown as StaticSiteWorker;
const STATIC_SITE = new URL(worker.registration.scope).pathname;
const KEPT = `attention-explorer-site ${STATIC_SITE}?`; // an origin may have several static sites
const NAME = KEPT + worker.staticSiteVersion;
const NOT_VISITED = "not-visited.html"; // shown offline in place of a page not visited before
const FIRST = [
  ...["./", NOT_VISITED, "app.webmanifest", "icon-192.png", "icon-512.png"],
  // Pages ask for these in the version that they are of: the storage may have those of an earlier one.
  ...["live.js", "live.css", "plotly.min.js"].map((name) => `${name}?${worker.staticSiteVersion}`),
];

self.addEventListener("install", (event) => {
  // From the host itself: the browser's own cache may still have files of an earlier version.
  const first = FIRST.map((address) => new Request(address, { cache: "reload" }));
  const done = caches.open(NAME).then((cache) => cache.addAll(first));
  (event as LifeEvent).waitUntil(done.then(() => worker.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const done = caches
    .keys()
    .then((names) => names.filter((name) => name.startsWith(KEPT) && name !== NAME))
    .then((old) => Promise.all(old.map((name) => caches.delete(name))));
  (event as LifeEvent).waitUntil(done.then(() => worker.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const asked = event as AskedEvent;
  const { request } = asked;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith(`${STATIC_SITE}models/`)) return;
  asked.respondWith(request.mode === "navigate" ? newest(asked) : kept(asked));
});

/**
 * A page from the network, so that a new version is noticed; offline the one that was kept, or one
 * that says that none was.
 */
async function newest(asked: AskedEvent) {
  try {
    return await fetchedAndKept(asked);
  } catch {
    const found = await ownCopy(asked.request);
    return found ?? Response.redirect(new URL(NOT_VISITED, location.href).href);
  }
}

async function kept(asked: AskedEvent) {
  return (await ownCopy(asked.request)) ?? fetchedAndKept(asked);
}

/** As what an answer is kept: the first page has two addresses. */
function keyOf(request: Request) {
  return new URL(request.url).pathname === `${STATIC_SITE}index.html` ? "./" : request;
}

/** What was kept; undefined without it, or where the storage cannot be read. */
async function ownCopy(request: Request) {
  try {
    const cache = await caches.open(NAME);
    return await cache.match(keyOf(request), { ignoreSearch: request.mode === "navigate" });
  } catch {
    return undefined;
  }
}

/** The answer does not wait for the storage, which may be full. */
async function fetchedAndKept(asked: AskedEvent) {
  const answer = await fetch(asked.request);
  if (answer.ok) asked.waitUntil(keep(asked.request, answer.clone()));
  return answer;
}

async function keep(request: Request, answer: Response) {
  try {
    await (await caches.open(NAME)).put(keyOf(request), answer);
  } catch {
    // no room: it is fetched again next time
  }
}
