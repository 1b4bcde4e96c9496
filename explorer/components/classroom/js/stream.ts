import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import type { Message } from "./classroom.ts";

/**
 * opened: whether it is the first message of a stream, perhaps of another start of the server,
 * which then knows nothing of what was published
 */
export type Take = (message: Message, opened: boolean) => void;

const SILENCE = 25_000; // ms without a sign of life, which the server gives every 10 s
const TAB = "explorer-page"; // in the session's storage, while no page of this tab is open
const PAUSE = [1000, 4000]; // ms before another try, by chance: thirty pages return at once
const SLOWEST = 6000; // ms for an answer to something that was sent

/**
 * The server's event stream, opened again whenever it breaks, and closed while the page is hidden:
 * a browser has six connections to a server for all of its tabs. The host's stays open: without it
 * the class goes on alone.
 * @param page the word by which the server knows this tab
 * @param onLost when it breaks, until the next message
 */
export function createStream(page: string, onMessage: Take, onLost: () => void = () => {}) {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let host = false;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const retry = () => {
    close();
    onLost();
    const pause = PAUSE[0] + Math.random() * (PAUSE[1] - PAUSE[0]);
    timer = setTimeout(open, pause);
  };
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(retry, SILENCE);
  };
  const open = () => {
    close();
    if (document.hidden && !host) return;
    let opened = true;
    source = new EventSource(addressOf(`events?page=${page}`));
    source.addEventListener("beat", alive);
    source.onmessage = ({ data }) => {
      alive();
      const message: Message = JSON.parse(data);
      host = message.host;
      onMessage(message, opened);
      opened = false;
    };
    source.onerror = retry;
    alive();
  };
  const ended = new AbortController();
  const onVisibility = () => {
    if (!host || !document.hidden) open();
  };
  document.addEventListener("visibilitychange", onVisibility, { signal: ended.signal });
  open();
  return {
    close: () => {
      ended.abort();
      close();
    },
  };
}

/** Send something to the server; whether it was taken. */
export async function send(path: string, content: unknown) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(content);
  const signal = AbortSignal.timeout(SLOWEST);
  const request = { method: "POST", headers, body, signal };
  const answer = await fetch(addressOf(path), request).catch(() => null);
  return answer?.ok === true;
}

/** The code to scan that holds an address, as SVG; null where there is none. */
export async function fetchCode(address: string) {
  const request = { method: "POST", headers: { "Content-Type": "text/plain" }, body: address };
  const answer = await fetch(addressOf("code"), request).catch(() => null);
  return answer?.ok ? answer.blob() : null;
}

type Led = "" | "leads" | "scores"; // whether a tab leads the class, and shows scores to it

/**
 * The word of this tab, and whether it has led: after a reload those before; a copy of the tab gets
 * others, since they are in the storage only while no page is open.
 */
export function takeTab() {
  const [kept, led = ""] = stored(TAB, ofTab)?.split(" ") ?? [];
  store(TAB, null, ofTab);
  const word = kept ?? Math.random().toString(36).slice(2);
  return {
    word,
    led: led as Led,
    keep: (now: Led) => store(TAB, `${word} ${now}`, ofTab),
  };
}

/**
 * The address of a route of the class, below the path that the server wrote into the guests' page,
 * or beside the host's page.
 */
export function addressOf(path: string) {
  const base = document.documentElement.dataset.class;
  const below = base === undefined ? document.baseURI : new URL(`${base}/`, location.href);
  return new URL(`class/${path}`, below);
}
