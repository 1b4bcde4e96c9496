/** Models that the app's server fetches from the hub when a person asks: entries of the list of models. */

import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { PageStore } from "./pageState.ts";

/** `fetch_route` writes it. */
export interface FetchEntry {
  name: string;
  title: string;
  size: string; // "550 MB"
  share?: number | null; // done, 0 to 1; null = it is not being fetched
  problem?: string; // why it was not fetched, a sentence
}

export interface ModelFetch {
  ask: (method: "GET" | "POST" | "DELETE", name?: string) => Promise<void>;
  relist: (entries?: FetchEntry[]) => void; // take over what the server lists now
  stop: () => void;
}

const PAUSE = 1000; // ms between two looks at a fetch

/**
 * Keeps `fetches` of the state up to date while one is running.
 * @param onFetched told that a model is there; the name of the one to open, "" = none
 */
export function createModelFetch(
  { values: state, set }: PageStore,
  onFetched: (open: string) => void,
): ModelFetch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;
  const ask: ModelFetch["ask"] = async (method, name = "") => {
    clearTimeout(timer);
    latest += 1;
    const own = latest;
    const address = new URL(`fetch/${name}?lang=${state.language}`, document.baseURI);
    const answer = await fetch(address, { method }).catch(() => null); // the server is away
    const fetches: FetchEntry[] | null = answer?.ok ? await answer.json() : null;
    if (own !== latest) return;
    const now = (one: FetchEntry) => fetches?.find(({ name }) => name === one.name);
    const fetched = fetches ? state.fetches.filter((one) => !now(one)) : [];
    set({ fetches: state.fetches.map((one) => now(one) ?? one) });
    if (state.fetches.some(({ share }) => isShare(share)))
      timer = setTimeout(() => ask("GET"), PAUSE);
    if (fetched.length) onFetched(fetched.find(({ name }) => name === state.fetching)?.name ?? "");
  };
  const relist = (entries: FetchEntry[] = []) => {
    const before = ({ name }: FetchEntry) => state.fetches.find((one) => one.name === name);
    set({ fetches: entries.map((one) => ({ ...before(one), ...one })) });
    if (entries.length) ask("GET"); // one may be running already
  };
  const stop = () => {
    latest += 1;
    clearTimeout(timer);
  };
  relist(state.fetches);
  return { ask, relist, stop };
}

function isShare(share: FetchEntry["share"]): share is number {
  return typeof share === "number";
}

/** The entry in the list of models. */
export function fetchLabel({ title, size, share }: FetchEntry, say: Say) {
  if (!isShare(share)) return say("fetch_once", { title, size });
  return say("fetch_done", { title, size, percent: Math.floor(100 * share) });
}

/** Below the row of controls: each model that is chosen to be fetched, or being fetched. */
export function createFetchLines(
  { values: state }: PageStore,
  say: Say,
  fetcher: ModelFetch,
): Part {
  const root = element("div", { class: "fetches", testid: "fetches" });
  const lineOf = (name: string) => {
    const press = () => fetcher.ask(isShare(entry()?.share) ? "DELETE" : "POST", name);
    const said = element("p", { role: "status" });
    const progress = element("progress", { max: 1 });
    const share = element("span", { "aria-hidden": true });
    const button = buttonElement(press, { testid: "fetch" });
    const line = element("div", { class: "fetch" }, said, progress, share, button);
    const entry = () => state.fetches.find((one) => one.name === name);
    const draw = () => {
      const { title = "", size = "", share: done, problem } = entry() ?? {};
      const running = isShare(done);
      line.hidden = !entry() || !(running || state.fetching === name);
      const idle = problem || say("fetch_about", { title, size });
      const text = running ? say("fetch_runs", { title }) : idle;
      write(said, line.hidden ? "" : text); // read out when it comes
      progress.hidden = share.hidden = !running;
      progress.value = done ?? 0;
      assign(progress, "aria-label", title);
      write(share, `${Math.floor(100 * (done ?? 0))} %`);
      write(button, running ? say("fetch_cancel") : say("fetch"));
    };
    return { line, draw };
  };
  const lines = state.fetches.map(({ name }) => lineOf(name));
  root.append(...lines.map(({ line }) => line));
  return { element: root, views: lines.map(({ draw }) => draw) };
}
