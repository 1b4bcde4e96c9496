import { readEnvelope } from "../../shared/js/envelope.js";
import { createLoading } from "../../shared/js/traceQuestions.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { Find } from "../../shared/js/traceQuestions.js" */

/**
 * @typedef {object} Sizes the sizes of the model, as its config names them
 * @property {number} d_model
 * @property {number} heads
 * @property {number} d_ff
 * @property {number} encoder_layers
 * @property {number} decoder_layers
 * @property {number} source_vocabulary
 * @property {number} target_vocabulary
 * @property {"pre" | "post"} norm
 *
 * @typedef {"tokens" | "positions" | "input" | "normed" | "heads" | "projected" | "output" | "hidden" | "forwarded" | "layer" | "stack"} VectorName
 *
 * @typedef {object} TokenPath the path of all queries through a layer, in the format of `inside/payload.py`
 * @property {Sizes} config
 * @property {{queries: number, keys: number}} counts
 * @property {(name: VectorName, query: number) => Float32Array} vector
 * @property {(query: number) => Candidate[]} candidates none in an encoder
 * @property {(query: number) => EarlyToken[]} early the first tokens if this layer were the last
 * @property {number[]} temperatures
 * @property {(query: number, temperature: number) => number} tempered the sum of all probabilities
 *   to the power 1 / temperature; `temperature` is an index of `temperatures`
 *
 * @typedef {object} Candidate
 * @property {string} label
 * @property {number} logit
 * @property {number} probability e to the logit, divided by the sum over the whole vocabulary
 *
 * @typedef {{label: string, probability: number}} EarlyToken
 *
 * @typedef {object} PathHeader
 * @property {Sizes} config
 * @property {{queries: number, keys: number}} counts
 * @property {string[][]} candidates
 * @property {string[][]} early
 * @property {number[]} temperatures
 */

/**
 * @param {Uint8Array} bytes
 * @returns {TokenPath}
 */
export function readTokenPath(bytes) {
  const { header, array } = /** @type {ReturnType<typeof readEnvelope<PathHeader>>} */ (
    readEnvelope(bytes)
  );
  const { config, counts } = header;
  /** @param {string} name */
  const numbers = (name) => {
    const found = /** @type {Float32Array | null} */ (array(name));
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  /** @type {TokenPath["vector"]} */
  const vector = (name, query) => {
    const all = numbers(name);
    const width = all.length / counts.queries;
    return all.subarray(query * width, (query + 1) * width);
  };
  /** @type {TokenPath["candidates"]} */
  const candidates = (query) => {
    const labels = header.candidates[query] ?? [];
    return labels.map((label, rank) => {
      const logit = numbers("logits")[query * labels.length + rank];
      return { label, logit, probability: Math.exp(logit - numbers("sums")[query]) };
    });
  };
  /** @type {TokenPath["early"]} */
  const early = (query) => {
    const labels = header.early[query] ?? [];
    const start = query * labels.length;
    return labels.map((label, rank) => ({ label, probability: numbers("early")[start + rank] }));
  };
  const { temperatures } = header;
  /** @type {TokenPath["tempered"]} */
  const tempered = (query, temperature) =>
    numbers("tempered")[query * temperatures.length + temperature];
  return { config, counts, vector, candidates, early, temperatures, tempered };
}

/** @type {WeakMap<TraceContext, Find<TokenPath>>} */
const loadings = new WeakMap();

/**
 * The path of a token through a layer of the attention on screen, once it is here.
 * @param {TraceContext} context
 * @param {number} layer
 */
export function findPath(context, layer) {
  const find = loadings.get(context) ?? createLoading(context, "path", readTokenPath);
  loadings.set(context, find);
  return find(pathPlace(context, layer));
}

/**
 * The place of the path through a layer of the attention on screen.
 * @param {TraceContext} context
 * @param {number} [layer] else the one on screen
 */
export function pathPlace({ state }, layer = state.layer) {
  return `${state.site}/${layer}`;
}
