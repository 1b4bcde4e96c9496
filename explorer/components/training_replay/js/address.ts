import type { Part } from "../../dom/js/element.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";
import { nearestMoment, type RunData } from "./runData.ts";

/**
 * Moment and head in the URL of the page. The browser writes them itself, because scrubbing needs
 * no server; the run and the compared ones are written by the server.
 */

const RUN = "run";
const MOMENT = "moment";
const HEAD = "head";
const MODEL = "model"; // of the pages that show a text
const AFTER = 300; // ms without a change until the URL is written

/**
 * Keep moment and head in the fragment of the address in place of its query: an exported page has no
 * server, and browsers let a page from disk change nothing else.
 */
export function addressInFragment() {
  document.documentElement.dataset.address = "fragment";
}

/** The part of the address that is written. */
function written() {
  const { address } = globalThis.document?.documentElement.dataset ?? {};
  return address === "fragment" ? "hash" : "search";
}

/** What the address says. */
function query() {
  return window.location[written()].slice(1);
}

/** What the URL says of a run; nulls for what it does not say or says of another run. */
export function addressed(
  run: RunData,
  said: string = query(),
): { at: number | null; head: HeadChoice | null } {
  const found = new URLSearchParams(said);
  const key = keyOf(run);
  if (found.get(RUN) !== key) return { at: null, head: null };
  const step = /^\d{1,9}$/.test(found.get(MOMENT) ?? "") ? Number(found.get(MOMENT)) : null;
  const head = /^(\d{1,3})\.(\d{1,3})$/.exec(found.get(HEAD) ?? "");
  const moments = run.moments.length;
  return {
    at: step === null || !moments ? null : nearestMoment(run.moments, step),
    head: head && { layer: Number(head[1]), head: Number(head[2]) },
  };
}

/**
 * Keep moment and head in the URL. The newest moment of a run and a head nobody chose are what a
 * URL without them shows.
 */
export function createAddress(context: ReplayContext): Pick<Part, "views"> {
  let timer = 0;
  const write = (run: RunData, moment: number | null, head: string | null | undefined) => {
    const next = new URL(window.location.href);
    const params = new URLSearchParams(query());
    if (params.has(MODEL)) return; // the address of the next page, which is not drawn yet
    put(params, MOMENT, moment);
    if (head !== undefined) put(params, HEAD, head);
    const names = [RUN, MOMENT, HEAD]; // a moment and a head are of a run, which they name
    if (names.some((name) => params.has(name))) put(params, RUN, keyOf(run));
    next[written()] = params.toString();
    if (next.href !== window.location.href)
      window.history.replaceState(window.history.state, "", next);
  };
  context.signal.addEventListener("abort", () => clearTimeout(timer));
  const follow = () => {
    const { run, state } = context;
    const latest = state.following || state.at === run.moments.length - 1;
    const moment = latest ? null : (run.moments[state.at]?.step ?? null);
    const head = state.headChosen ? nameOf(context.selected) : null;
    clearTimeout(timer);
    timer = window.setTimeout(() => write(run, moment, head), AFTER);
  };
  return { views: [follow] };
}

/** Another attention than the cross-attention leaves the head in the URL as it is. */
function nameOf(head: HeadChoice | null) {
  return head ? `${head.layer}.${head.head}` : undefined;
}

/** The run as the URL names it; its key has the time of its creation behind. */
export function keyOf({ key }: Pick<RunData, "key">) {
  return key.slice(0, key.lastIndexOf("@"));
}

function put(query: URLSearchParams, name: string, value: string | number | null | undefined) {
  if (value === null || value === undefined) query.delete(name);
  else query.set(name, String(value));
}
