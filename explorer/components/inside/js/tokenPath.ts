import { readEnvelope } from "../../page/js/envelope.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading, type Find } from "../../trace/js/traceQuestions.ts";

/** The sizes of the model, as its config names them. */
export interface Sizes {
  d_model: number;
  heads: number;
  d_ff: number;
  encoder_layers: number;
  decoder_layers: number;
  source_vocabulary: number;
  target_vocabulary: number;
  norm: "pre" | "post";
}

type VectorName =
  | "tokens"
  | "positions"
  | "input"
  | "normed"
  | "heads"
  | "projected"
  | "output"
  | "hidden"
  | "forwarded"
  | "layer"
  | "stack";

/** The path of all queries through a layer, in the format of `inside/payload.py`. */
export interface TokenPath {
  config: Sizes;
  counts: { queries: number; keys: number };
  vector: (name: VectorName, query: number) => Float32Array;
  candidates: (query: number) => Candidate[]; // none in an encoder
  early: (query: number) => EarlyToken[]; // the first tokens if this layer were the last
  temperatures: number[];
  /**
   * the sum of all probabilities to the power 1 / temperature; `temperature` is an index of
   * `temperatures`
   */
  tempered: (query: number, temperature: number) => number;
}

export interface Candidate {
  label: string;
  logit: number;
  probability: number; // e to the logit, divided by the sum over the whole vocabulary
}

type EarlyToken = { label: string; probability: number };

interface PathHeader {
  config: Sizes;
  counts: { queries: number; keys: number };
  candidates: string[][];
  early: string[][];
  temperatures: number[];
}

export function readTokenPath(bytes: Uint8Array): TokenPath {
  const { header, array } = readEnvelope<PathHeader>(bytes);
  const { config, counts } = header;
  const numbers = (name: string) => {
    const found = array(name) as Float32Array | null;
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  const vector: TokenPath["vector"] = (name, query) => {
    const all = numbers(name);
    const width = all.length / counts.queries;
    return all.subarray(query * width, (query + 1) * width);
  };
  const candidates: TokenPath["candidates"] = (query) => {
    const labels = header.candidates[query] ?? [];
    return labels.map((label, rank) => {
      const logit = numbers("logits")[query * labels.length + rank];
      return { label, logit, probability: Math.exp(logit - numbers("sums")[query]) };
    });
  };
  const early: TokenPath["early"] = (query) => {
    const labels = header.early[query] ?? [];
    const start = query * labels.length;
    return labels.map((label, rank) => ({ label, probability: numbers("early")[start + rank] }));
  };
  const { temperatures } = header;
  const tempered: TokenPath["tempered"] = (query, temperature) =>
    numbers("tempered")[query * temperatures.length + temperature];
  return { config, counts, vector, candidates, early, temperatures, tempered };
}

const loadings: WeakMap<TraceContext, Find<TokenPath>> = new WeakMap();

/** The path of a token through a layer of the attention on screen, once it is here. */
export function findPath(context: TraceContext, layer: number) {
  const find = loadings.get(context) ?? createLoading(context, "path", readTokenPath);
  loadings.set(context, find);
  return find(pathPlace(context, layer));
}

/**
 * The place of the path through a layer of the attention on screen.
 * @param layer else the one on screen
 */
export function pathPlace({ state }: TraceContext, layer: number = state.layer) {
  return `${state.site}/${layer}`;
}
