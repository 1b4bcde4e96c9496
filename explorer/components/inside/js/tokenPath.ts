import { readEnvelope } from "../../page/js/envelope.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading, type Find, offers } from "../../trace/js/traceQuestions.ts";

/** What is known of every model, as the config of those trained here names it. */
export interface Shape {
  heads: number;
  encoder_layers: number;
  decoder_layers: number;
  norm: "pre" | "post";
}

/** The sizes of a model trained here. */
export interface Sizes extends Shape {
  d_model: number;
  d_ff: number;
  source_vocabulary: number;
  target_vocabulary: number;
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
  shape: Shape;
  sizes: Sizes | null; // null of a model of the library
  norm: string; // its name
  counts: { queries: number; keys: number };
  has: (name: VectorName) => boolean; // all of a model trained here
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
  config: Shape | Sizes;
  norm?: string;
  counts: { queries: number; keys: number };
  candidates: string[][];
  early: string[][];
  temperatures: number[];
}

export function readTokenPath(bytes: Uint8Array): TokenPath {
  const { header, array } = readEnvelope<PathHeader>(bytes);
  const { config: shape, counts } = header;
  const sizes = "d_model" in shape ? shape : null;
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
  return {
    shape,
    sizes,
    norm: header.norm ?? "LayerNorm",
    counts,
    has: (name) => array(name) !== null,
    vector,
    candidates,
    early,
    temperatures,
    tempered,
  };
}

/** The questions of which one is answered by the path: of models trained here, of the library. */
export const PATH = ["path", "layer"];

const loadings: WeakMap<TraceContext, Record<string, Find<TokenPath>>> = new WeakMap();

/** The path of a token through a layer of the attention on screen, once it is here. */
export function findPath(context: TraceContext, layer: number) {
  const known = loadings.get(context) ?? {};
  loadings.set(context, known);
  const name = PATH.find((one) => offers(context, one)) ?? PATH[0];
  known[name] ??= createLoading(context, name, readTokenPath);
  return known[name](pathPlace(context, layer));
}

/**
 * The place of the path through a layer of the attention on screen.
 * @param layer else the one on screen
 */
export function pathPlace({ state }: TraceContext, layer: number = state.layer) {
  return `${state.site}/${layer}`;
}
