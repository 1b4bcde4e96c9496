import { readTrace } from "../../shared/js/trace.js";

/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { Moment } from "./runData.js" */

/**
 * @typedef {object} ProbeTraces
 * @property {(moments: Moment[], at: number) => void} request all of them, those nearest to index `at` first
 * @property {(address: string | null) => Trace | null | false} get null while it is loading, false where there is none
 */

/** @typedef {(address: string, signal: AbortSignal) => Promise<Uint8Array>} FetchProbe */

const AT_ONCE = 4; // requests at the same time

/** @type {FetchProbe} the bytes at an address of the app's server */
export async function servedProbe(address, signal) {
  const answer = await fetch(new URL(address, document.baseURI), { signal });
  if (!answer.ok) throw new Error(String(answer.status));
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * The probe traces of the moments, each fetched once, so that scrubbing needs no server.
 * @param {(address: string) => void} onArrival also called for one that could not be fetched
 * @param {AbortSignal} signal
 * @param {FetchProbe} fetchProbe
 * @returns {ProbeTraces}
 */
export function createProbeTraces(onArrival, signal, fetchProbe) {
  /** @type {Map<string, Trace | null | false>} null while loading */
  const traces = new Map();
  /** @type {string[]} */
  let queue = [];
  let loading = 0;
  /** @param {string} address */
  const load = async (address) => {
    loading += 1;
    traces.set(address, null);
    try {
      traces.set(address, readTrace(await fetchProbe(address, signal)));
    } catch {
      traces.set(address, false);
    }
    loading -= 1;
    if (signal.aborted) return;
    onArrival(address);
    next();
  };
  const next = () => {
    while (loading < AT_ONCE && queue.length) {
      const address = /** @type {string} */ (queue.shift());
      if (!traces.has(address)) load(address);
    }
  };
  return {
    request: (moments, at) => {
      queue = moments
        .map(({ probe }, index) => ({ address: probe ?? "", distance: Math.abs(index - at) }))
        .filter(({ address }) => address && !traces.has(address))
        .sort((one, other) => one.distance - other.distance)
        .map(({ address }) => address);
      next();
    },
    get: (address) => (address ? (traces.get(address) ?? null) : false),
  };
}
