import { element } from "./element.js";
import { serverBytes } from "./serverBytes.js";
import { shownHead } from "./stepState.js";

/** @import { Method } from "./contributions.js" */
/** @import { TraceState } from "./openingState.js" */
/** @import { Site, Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {Pick<TraceState, "site" | "layer" | "head" | "shows" | "words">} Wanted
 * @typedef {(name: string, signal: AbortSignal) => Promise<Uint8Array>} FetchHead
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
      if (typeof head === "string") await loadContributions(context, pieces, head, signal);
      else await loadHeads(context, pieces, missing, signal);
    } catch {
      if (signal.aborted) return;
      const text = context.say(problemOf(pieces, wanted));
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
 * @param {Trace} pieces
 * @param {Wanted} wanted
 */
function problemOf({ header }, wanted) {
  const head = shownHead(wanted);
  if (head === "leave_one_out") return "leave_one_out_not_loaded";
  if (typeof head === "string") return "contributions_not_loaded";
  return header.held ? "not_in_page" : "not_loaded";
}

/**
 * Fetch what keys contribute and add it to its trace.
 * @param {TraceContext} context
 * @param {Trace} pieces
 * @param {Method} method
 * @param {AbortSignal} signal
 */
async function loadContributions({ options }, { header, contributions }, method, signal) {
  const address = `${header.contributions}/${method}`;
  contributions.add(method, await serverBytes(address, signal, () => options.onMissing?.()));
}

/**
 * Fetch weights and add them to their trace.
 * @param {TraceContext} context
 * @param {Trace} pieces
 * @param {{site: Site, name: string}[]} missing
 * @param {AbortSignal} signal
 */
async function loadHeads({ options }, pieces, missing, signal) {
  const fetchHead = options.fetchHead ?? fromServer(pieces, () => options.onMissing?.());
  const loaded = await Promise.all(missing.map(({ name }) => fetchHead(name, signal)));
  missing.forEach(({ site, name }, index) => {
    pieces.heads?.add(name, loaded[index], site);
  });
}

/**
 * Fetch weights from the server that sent the trace.
 * @param {Trace} pieces
 * @param {() => void} onMissing called when the server has dropped the trace, to make it anew
 * @returns {FetchHead}
 */
function fromServer({ header }, onMissing) {
  return (name, signal) => serverBytes(`${header.heads}/${name}`, signal, onMissing);
}
