import { element } from "./element.js";
import { shownHead } from "./stepState.js";
import { fetchAnswer } from "./traceQuestions.js";

/** @import { Method } from "./contributions.js" */
/** @import { Asking } from "./traceQuestions.js" */
/** @import { TraceState } from "./initialState.js" */
/** @import { Site, Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {Pick<TraceState, "site" | "layer" | "head" | "shows" | "words">} Wanted
 *
 * @typedef {(pieces: Trace, wanted: Wanted, show: () => void) => void} ShowLoaded calls `show` as
 *   soon as the weights of a head are there, and not at all when another head was asked for since
 */

/**
 * The weights that are not here yet; all are where the trace is not a large one.
 * @param {Trace} pieces
 * @param {Wanted} wanted
 * @returns {{site: Site, name: string}[]}
 */
function missingHeads(pieces, wanted) {
  const { site: name, layer, words } = wanted;
  const head = shownHead(wanted);
  const traces = words && pieces.words ? [pieces, pieces.words] : [pieces];
  const sites = traces.map((trace) => /** @type {Site} */ (trace.sites[name]));
  return sites
    .filter((site) => !site.has(layer, head))
    .map((site) => ({ site, name: site.nameOf(layer, head) }));
}

/**
 * Show a head of a large trace once its weights were fetched; any other at once.
 * @param {TraceContext} context
 * @returns {ShowLoaded}
 */
export function createHeadLoading(context) {
  const { root, signal: ended } = context;
  /** @type {HTMLElement | null} */
  let problem = null;
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
    } catch {
      if (signal.aborted) return;
      const text = context.say(problemOf(context, wanted));
      const looks = { class: "load-problem", testid: "load-problem", role: "alert" };
      problem = element("p", looks, text);
      root.append(problem);
    }
    if (signal.aborted) return;
    root.classList.remove("loading");
    if (!missingHeads(pieces, wanted).length) show();
  };
}

/**
 * The sentence on what could not be loaded.
 * @param {TraceContext} context
 * @param {Wanted} wanted
 */
function problemOf({ options }, wanted) {
  const head = shownHead(wanted);
  if (head === "leave_one_out") return "leave_one_out_not_loaded";
  if (typeof head === "string") return "contributions_not_loaded";
  return options.resources?.held ? "not_in_page" : "not_loaded";
}

/**
 * Fetch what keys contribute and add it to its trace.
 * @param {Asking} asking
 * @param {Method} method
 */
async function loadContributions(asking, method) {
  const bytes = await fetchAnswer(asking, "contributions", method);
  asking.pieces.contributions.add(method, bytes);
}

/**
 * Fetch weights and add them to their trace.
 * @param {Asking} asking
 * @param {{site: Site, name: string}[]} missing
 */
async function loadHeads(asking, missing) {
  const loaded = await Promise.all(missing.map(({ name }) => fetchAnswer(asking, "head", name)));
  missing.forEach(({ site, name }, index) => {
    asking.pieces.heads?.add(name, loaded[index], site);
  });
}
