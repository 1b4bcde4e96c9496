import { element } from "../../dom/js/element.ts";
import type { Method } from "./contributions.ts";
import type { TraceState } from "./initialState.ts";
import { shownHead } from "./stepState.ts";
import type { Site, Trace } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";
import { type Asking, fetchAnswer, Refusal } from "./traceQuestions.ts";

export type Wanted = Pick<TraceState, "site" | "layer" | "head" | "shows" | "words">;

/**
 * Calls `show` as soon as the weights of a head are there, and not at all when another head was asked
 * for since.
 */
export type ShowLoaded = (pieces: Trace, wanted: Wanted, show: () => void) => void;

/** The weights that are not here yet; all are where the trace is not a large one. */
function missingHeads(pieces: Trace, wanted: Wanted): { site: Site; name: string }[] {
  const { site: name, layer, words } = wanted;
  const head = shownHead(wanted);
  const traces = words && pieces.words ? [pieces, pieces.words] : [pieces];
  const sites = traces.map((trace) => trace.sites[name] as Site);
  return sites
    .filter((site) => !site.has(layer, head))
    .map((site) => ({ site, name: site.nameOf(layer, head) }));
}

/** Show a head of a large trace once its weights were fetched; any other at once. */
export function createHeadLoading(context: TraceContext): ShowLoaded {
  const { root, signal: ended } = context;
  let problem: HTMLElement | null = null;
  let latest = new AbortController();
  ended.addEventListener("abort", () => latest.abort());
  return async (pieces, wanted, show) => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const missing = missingHeads(pieces, wanted);
    problem?.remove();
    root.classList.toggle("loading", missing.length > 0);
    if (!missing.length) {
      show();
      return;
    }
    try {
      const head = shownHead(wanted);
      const asking = { options: context.options, pieces, signal };
      if (typeof head === "string") await loadContributions(asking, head);
      else await loadHeads(asking, missing);
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof Refusal;
      const text = refused ? error.message : context.say(problemOf(context, wanted));
      const looks = { class: "load-problem", testid: "load-problem", role: "alert" };
      problem = element("p", looks, text);
      root.append(problem);
    }
    if (signal.aborted) return;
    root.classList.remove("loading");
    if (!missingHeads(pieces, wanted).length) show();
  };
}

/** The sentence on what could not be loaded. */
function problemOf({ options }: TraceContext, wanted: Wanted) {
  if (typeof shownHead(wanted) === "string") return "contributions_not_loaded";
  return options.resources?.held ? "not_in_page" : "not_loaded";
}

/** Fetch what keys contribute and add it to its trace. */
async function loadContributions(asking: Asking, method: Method) {
  const bytes = await fetchAnswer(asking, "contributions", method);
  asking.pieces.contributions.add(method, bytes);
}

/** Fetch weights and add them to their trace. */
async function loadHeads(asking: Asking, missing: { site: Site; name: string }[]) {
  const loaded = await Promise.all(missing.map(({ name }) => fetchAnswer(asking, "head", name)));
  missing.forEach(({ site, name }, index) => {
    asking.pieces.heads?.add(name, loaded[index], site);
  });
}
