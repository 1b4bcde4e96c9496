import { readEnvelope } from "../../page/js/envelope.ts";
import type { SHOWN_MAPS } from "./look.ts";
import type { SiteName } from "./trace.ts";

export type Method = (typeof SHOWN_MAPS)[number]; // by which contributions are computed

/** What is shown of a layer: a head, MEAN of them, or what its keys contribute. */
export type HeadOrMethod = number | Method;

/** What a method computes through: all heads of one layer, all layers up to one, or the model. */
type Reach = "all" | "through" | "whole";

/**
 * What keys contribute to queries, in the format of
 * `player/contributions.py`; empty until it is asked for.
 */
export interface Contributions {
  loaded: (method: HeadOrMethod) => boolean;
  add: (method: Method, bytes: Uint8Array) => void;
  /** of one layer, as those of weights; area: its cells */
  codes: (method: Method, site: SiteName, layer: number, area: number) => Uint16Array;
  /** by row, 0..1: the part of the source in what it predicts; null where nothing is predicted */
  sourceShare: (method: Method) => Float32Array | null;
  /** of ln p (nats) without the key of a cell, by leave-one-out */
  drop: (site: SiteName, cell: number) => number;
  /**
   * by method, in how many rows it has the same largest
   * source token as leave-one-out, once that is loaded; of pieces
   */
  agreement: () => [string, number][];
  words: Contributions | null; // the same of the trace in words
}

const REACHES: Partial<Record<Method, Reach>> = {
  alti_plus: "through",
  rollout: "through",
  leave_one_out: "whole",
};

export function reachOf(method: Method): Reach {
  return REACHES[method] ?? "all";
}

export function createContributions(words: Contributions | null = null): Contributions {
  const read = readEnvelope<{ agreement?: [string, number][] }>;
  const envelopes: Map<HeadOrMethod, ReturnType<typeof read>> = new Map();
  const found = (method: Method, name: string) => {
    const values = envelopes.get(method)?.array(name);
    if (!values) throw new Error(`no contributions: ${method} ${name}`);
    return values;
  };
  return {
    loaded: (method) => envelopes.has(method),
    add: (method, bytes) => {
      const envelope = read(bytes);
      const merged = envelope.array("words");
      if (merged) words?.add(method, merged as Uint8Array);
      envelopes.set(method, envelope);
    },
    codes: (method, site, layer, area) =>
      (found(method, site) as Uint16Array).subarray(layer * area, (layer + 1) * area),
    sourceShare: (method) =>
      (envelopes.get(method)?.array("source_share") ?? null) as Float32Array | null,
    drop: (site, cell) => found("leave_one_out", `${site}.drop`)[cell],
    agreement: () => envelopes.get("leave_one_out")?.header.agreement ?? [],
    words,
  };
}
