/**
 * Answers about a trace, as `explorer/components/trace_questions.py` has them.
 *
 * @import { PayloadArray } from "../../shared/js/envelope.js"
 * @import { CapturedArray, Site } from "./attentionCapture.js"
 * @import { ExplorableModel, ModelTrace, Request } from "./explorableModel.js"
 * @import { Omission } from "./omissions.js"
 */

import { packEnvelope } from "../../shared/js/envelope.js";
import { stackOf } from "./attentionCapture.js";
import { mostProbable, probabilitiesOf } from "./candidates.js";
import { layerNorm, linear } from "./matrices.js";
import { isOmission } from "./omissions.js";

const CANDIDATES = 5; // the most probable tokens shown with their logits
const EARLY = 3; // the most probable tokens after each layer
const TEMPERATURES = Array.from({ length: 20 }, (_, step) => (step + 1) / 10);

/**
 * By name, what answers at a place of a trace, given by its words.
 * @type {Record<string, (asked: TraceAnswers, place: string[]) => Uint8Array<ArrayBuffer>>}
 */
const ANSWERS = {
  vectors: ({ full }, [site, layer, head]) =>
    headVectors(full, /** @type {Site} */ (site), Number(layer), Number(head)),
  path: ({ model, full }, [site, layer]) =>
    tokenPath(model, full, /** @type {Site} */ (site), Number(layer)),
  without: (asked, [site, layer, head, part]) => {
    if (!isOmission(part)) throw new RangeError(`no part is called ${part}`);
    return omission(asked, /** @type {Site} */ (site), Number(layer), Number(head), part);
  },
};

/** What can be asked here of those in `components/trace_questions.py`. */
export const TRACE_QUESTIONS = Object.keys(ANSWERS);

/** What can be asked about the trace of one text; the model runs when something is asked first. */
export class TraceAnswers {
  /**
   * @param {ExplorableModel} model
   * @param {string} text
   * @param {Request} request
   */
  constructor(model, text, request) {
    this.model = model;
    this.text = text;
    this.request = request;
    /** @type {ModelTrace | null} */
    this.captured = null;
  }

  /** The trace, captured in full. */
  get full() {
    this.captured ??= this.model.trace(this.text, { ...this.request, capture: "full" });
    return this.captured;
  }

  /**
   * The payload that the app answers with.
   * @param {string} name
   * @param {string} place as "cross/1/2"
   */
  answer(name, place) {
    if (!TRACE_QUESTIONS.includes(name)) throw new RangeError(`nothing is called ${name}`);
    return ANSWERS[name](this, place.split("/"));
  }
}

/**
 * One head of the model without a part, which decodes the text anew.
 * @param {TraceAnswers} asked
 * @param {Site} site
 * @param {number} layer
 * @param {number} head
 * @param {Omission} without
 */
function omission({ model, text: given, request }, site, layer, head, without) {
  const trace = model.trace(given, { ...request, without });
  const weights = part(trace.arrays[`${site}.attention`], layer, head);
  const masked = /** @type {Uint8Array} */ (trace.arrays[`${site}.closed`].values);
  const { sourceTokens, targetTokens, text } = trace;
  const queries = site === "encoder" ? sourceTokens : targetTokens;
  const keys = site === "decoder" ? targetTokens : sourceTokens;
  return packEnvelope({ queries, keys, text }, { weights, masked });
}

/**
 * The vectors that the weights of one head are computed from.
 * @param {ModelTrace} trace in full
 * @param {Site} site
 * @param {number} layer
 * @param {number} head
 */
function headVectors({ arrays }, site, layer, head) {
  const width = arrays[`${site}.query_vectors`].shape[3];
  return packEnvelope(
    { width, scale: Math.fround(width ** -0.5), cap: null },
    {
      queries: part(arrays[`${site}.query_vectors`], layer, head),
      keys: part(arrays[`${site}.key_vectors`], layer, head),
      values: part(arrays[`${site}.values`], layer, head),
    },
  );
}

/**
 * The path of all queries through one layer, from the embedding to the next token.
 * @param {ExplorableModel} model
 * @param {ModelTrace} trace in full
 * @param {Site} site
 * @param {number} layer
 */
function tokenPath(model, trace, site, layer) {
  const { arrays } = trace;
  const stack = stackOf(site);
  const tokens = part(arrays[`${stack}.token_vectors`]);
  const embedding = part(arrays[`${stack}.embedding`]);
  const [, , queries, keys] = arrays[`${site}.attention`].shape;
  /** @type {Record<string, PayloadArray>} */
  const found = {
    tokens,
    positions: embedding.map((value, index) => value - tokens[index]),
    input: part(arrays[`${site}.input`], layer),
    normed: part(arrays[`${site}.sublayer_input`], layer),
    heads: sideBySide(arrays[`${site}.head_output`], layer),
    projected: part(arrays[`${site}.sublayer_output`], layer),
    output: part(arrays[`${site}.output`], layer),
    hidden: part(arrays[`${stack}.feed_forward_hidden`], layer),
    forwarded: part(arrays[`${stack}.feed_forward_output`], layer),
    layer: part(arrays[`${stack}.layer_output`], layer),
    stack: part(arrays[`${stack}.stack_output`]),
  };
  const header = {
    config: trace.facts.config,
    counts: { queries, keys },
    candidates: /** @type {string[][]} */ ([]),
    early: /** @type {string[][]} */ ([]),
    temperatures: TEMPERATURES,
  };
  if (stack === "decoder") {
    const early = earlyPredictions(model, found.layer, queries);
    Object.assign(found, nextTokens(trace), { early: early.probabilities });
    Object.assign(header, { candidates: firstLabels(trace), early: early.labels });
  }
  return packEnvelope(header, found);
}

/**
 * Of the logits of each query: those of the first candidates, ln of the sum of e to all of them, and
 * the sum of all probabilities to the power 1 / temperature.
 * @param {ModelTrace} trace in full
 */
function nextTokens({ arrays, candidates }) {
  const { shape } = arrays.logits;
  const values = part(arrays.logits);
  const size = shape[1];
  const first = candidates.filter(({ rank }) => rank <= CANDIDATES);
  const logits = Float32Array.from(first, ({ step, id }) => values[(step - 1) * size + id]);
  const sums = new Float32Array(shape[0]);
  const tempered = new Float32Array(shape[0] * TEMPERATURES.length);
  for (let row = 0; row < shape[0]; row++) {
    const own = values.subarray(row * size, (row + 1) * size);
    const sum = logOfSum(own);
    sums[row] = sum;
    TEMPERATURES.forEach((temperature, place) => {
      const total = own.reduce((all, logit) => all + Math.exp((logit - sum) / temperature), 0);
      tempered[row * TEMPERATURES.length + place] = total;
    });
  }
  return { logits, sums, tempered };
}

/**
 * The labels of the first candidates of each query.
 * @param {ModelTrace} trace
 */
function firstLabels({ candidates, targetTokens }) {
  const first = candidates.filter(({ rank }) => rank <= CANDIDATES);
  return targetTokens.map((_, row) =>
    first.flatMap(({ step, token }) => (step === row + 1 ? token : [])),
  );
}

/**
 * What the model would predict from the output (T, D) of a layer of the decoder, if it were the last
 * one (nostalgebraist 2020, the logit lens).
 * @param {ExplorableModel} model
 * @param {PayloadArray} output
 * @param {number} rows
 */
function earlyPredictions({ checkpoint }, output, rows) {
  const { transformer, targetVocabulary } = checkpoint;
  const hidden = /** @type {Float32Array} */ (output);
  const { norm } = transformer.decoder;
  const normed = norm ? layerNorm(hidden, rows, norm) : hidden;
  const logits = linear(normed, rows, transformer.logits.parameters);
  const size = logits.length / rows;
  /** @type {string[][]} */
  const labels = [];
  /** @type {number[]} */
  const shares = [];
  for (let row = 0; row < rows; row++) {
    const probabilities = probabilitiesOf(logits.subarray(row * size, (row + 1) * size));
    const best = mostProbable(probabilities, EARLY);
    labels.push(targetVocabulary.labels(best));
    shares.push(...best.map((id) => probabilities[id]));
  }
  return { labels, probabilities: Float32Array.from(shares) };
}

/** @param {Float32Array} logits */
function logOfSum(logits) {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - largest), 0);
  return Math.log(sum) + largest;
}

/**
 * A part of an array by its first indices.
 * @param {CapturedArray} array
 * @param {...number} indices
 */
function part({ values, shape }, ...indices) {
  let [start, length] = [0, values.length];
  indices.forEach((index, axis) => {
    length /= shape[axis];
    start += index * length;
  });
  return /** @type {Float32Array} */ (values).slice(start, start + length);
}

/**
 * The outputs (H, T, K) of all heads of a layer beside each other: (T, H · K).
 * @param {CapturedArray} outputs (layer, H, T, K)
 * @param {number} layer
 */
function sideBySide(outputs, layer) {
  const [, heads, rows, width] = outputs.shape;
  const joined = new Float32Array(heads * rows * width);
  for (let head = 0; head < heads; head++) {
    const own = part(outputs, layer, head);
    for (let row = 0; row < rows; row++) {
      joined.set(own.subarray(row * width, (row + 1) * width), (row * heads + head) * width);
    }
  }
  return joined;
}
