import { createStore } from "../../dom/js/store.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import type { Moment } from "./runData.ts";

export interface ProbeTraces {
  /** all of them, those nearest to index `at` first */
  request: (moments: Moment[], at: number) => void;
  /** null while it is loading, false where there is none; a view draws again when any has arrived */
  get: (address: string | null) => Trace | null | false;
}

export type FetchProbe = (address: string, signal: AbortSignal) => Promise<Uint8Array>;

const AT_ONCE = 4; // requests at the same time

/** The bytes at an address of the app's server. */
export async function servedProbe(
  address: string,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBufferLike>> {
  const answer = await fetch(new URL(address, document.baseURI), { signal });
  if (!answer.ok) throw new Error(String(answer.status));
  return new Uint8Array(await answer.arrayBuffer());
}

/** The probe traces of the moments, each fetched once, so that scrubbing needs no server. */
export function createProbeTraces(signal: AbortSignal, fetchProbe: FetchProbe): ProbeTraces {
  const traces: Map<string, Trace | null | false> = new Map(); // null while loading
  const { values, set } = createStore({ known: { traces } });
  let queue: string[] = [];
  let loading = 0;
  const load = async (address: string) => {
    loading += 1;
    traces.set(address, null);
    try {
      traces.set(address, readTrace(await fetchProbe(address, signal)));
    } catch {
      traces.set(address, false);
    }
    loading -= 1;
    if (signal.aborted) return;
    set({ known: { traces } });
    next();
  };
  const next = () => {
    while (loading < AT_ONCE && queue.length) {
      const address = queue.shift() as string;
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
    get: (address) => (address ? (values.known.traces.get(address) ?? null) : false),
  };
}
