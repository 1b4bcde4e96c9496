import { readEnvelope } from "../../shared/js/envelope.js";

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
 * @typedef {object} TokenPath the path of all queries through a layer, in the format of `inside/token_path.py`
 * @property {Sizes} config
 * @property {{queries: number, keys: number}} counts
 * @property {(name: VectorName, query: number) => Float32Array} vector
 * @property {(query: number) => Candidate[]} candidates none in an encoder
 *
 * @typedef {object} Candidate
 * @property {string} label
 * @property {number} logit
 * @property {number} probability e to the logit, divided by the sum over the whole vocabulary
 *
 * @typedef {object} PathHeader
 * @property {Sizes} config
 * @property {{queries: number, keys: number}} counts
 * @property {string[][]} candidates
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
  return { config, counts, vector, candidates };
}
