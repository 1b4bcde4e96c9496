/** Answers about a trace, as `explorer/components/trace_questions.py` has them. */

import { type PayloadArray, packEnvelope } from "../../page/js/envelope.ts";
import { linesIn } from "../../trace/js/interventions.ts";
import { SITES } from "../../trace/js/look.ts";
import { type CapturedArray, type Site, stackOf } from "./attentionCapture.ts";
import { mostProbable, probabilitiesOf } from "./candidates.ts";
import { type ExplorableModel, fedIn, type ModelTrace, type Request } from "./explorableModel.ts";
import { intervening, interventionsOf } from "./interventions.ts";
import { layerNorm, linear } from "./matrices.ts";

const CANDIDATES = 5; // the most probable tokens shown with their logits
const EARLY = 3; // the most probable tokens after each layer
const TEMPERATURES = Array.from({ length: 20 }, (_, step) => (step + 1) / 10);

/** By name, what answers at a place of a trace, given by its words. */
const ANSWERS: Record<string, (asked: TraceAnswers, place: string[]) => Uint8Array<ArrayBuffer>> = {
  vectors: ({ full }, [site, layer, head]) =>
    headVectors(full, site as Site, Number(layer), Number(head)),
  path: ({ model, full }, [site, layer]) => tokenPath(model, full, site as Site, Number(layer)),
  without: (asked, [site, layer, head, part]) => {
    return omission(asked, site as Site, Number(layer), Number(head), part);
  },
  decisive: ({ model, full }) => packEnvelope(decisiveHead(model, full), {}),
};

/** What can be asked here of those in `components/trace_questions.py`. */
export const TRACE_QUESTIONS = Object.keys(ANSWERS);

/** What can be asked about the trace of one text; the model runs when something is asked first. */
export class TraceAnswers {
  model: ExplorableModel;
  text: string;
  request: Request;
  captured: ModelTrace | null;

  constructor(model: ExplorableModel, text: string, request: Request) {
    this.model = model;
    this.text = text;
    this.request = request;
    this.captured = null;
  }

  /** The trace, captured in full. */
  get full() {
    this.captured ??= this.model.trace(this.text, { ...this.request, capture: "full" });
    return this.captured;
  }

  /**
   * The payload that the app answers with.
   * @param place as "cross/1/2"
   */
  answer(name: string, place: string) {
    if (!TRACE_QUESTIONS.includes(name)) throw new RangeError(`nothing is called ${name}`);
    return ANSWERS[name](this, place.split("/"));
  }
}

/** One head of the model without a part, which decodes the text anew. */
function omission(
  { model, text: given, request }: TraceAnswers,
  site: Site,
  layer: number,
  head: number,
  without: string,
) {
  const interventions = [...(request.interventions ?? []), `omit ${without}`];
  const trace = model.trace(given, { ...request, interventions });
  const weights = part(trace.arrays[`${site}.attention`], layer, head);
  const closed = trace.arrays[`${site}.closed`];
  const masked = closed.shape.length === 2 ? closed.values : part(closed, layer, head);
  const { sourceTokens, targetTokens, text } = trace;
  const queries = site === "encoder" ? sourceTokens : targetTokens;
  const keys = site === "decoder" ? targetTokens : sourceTokens;
  return packEnvelope({ queries, keys, text }, { weights, masked });
}

/**
 * The vectors that the weights of one head are computed from.
 * @param trace in full
 */
function headVectors({ arrays }: ModelTrace, site: Site, layer: number, head: number) {
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
 * The head without which the output is least probable, as
 * `explorer/heads/removal/decisive_head.py` finds it.
 */
function decisiveHead({ checkpoint }: ExplorableModel, trace: ModelTrace) {
  const { transformer } = checkpoint;
  const lines = linesIn(trace.facts);
  let best = { site: "", layer: 0, head: 0 };
  let least = Infinity;
  for (const [site, layer, head] of headsOf(trace)) {
    const interventions = interventionsOf([...lines, `ablate ${site}.${layer}.${head}`]);
    const logits = intervening(transformer, interventions, () =>
      transformer.forward(trace.source, fedIn(trace.chosen)),
    );
    const found = logProbability(logits, trace.chosen);
    if (found < least) [best, least] = [{ site, layer, head }, found];
  }
  return best;
}

function headsOf({ arrays }: ModelTrace) {
  return SITES.flatMap((site) => {
    const [layers, heads] = arrays[`${site}.attention`].shape;
    return Array.from(
      { length: layers * heads },
      (_, index) => [site, Math.floor(index / heads), index % heads] as const,
    );
  });
}

/**
 * The sum over the steps of ln p of the tokens that were chosen.
 * @param logits (T, V)
 */
function logProbability(logits: Float32Array, chosen: number[]) {
  const size = logits.length / chosen.length;
  return chosen.reduce((sum, token, row) => {
    const own = logits.subarray(row * size, (row + 1) * size);
    return sum + own[token] - logOfSum(own);
  }, 0);
}

/**
 * The path of all queries through one layer, from the embedding to the next token.
 * @param trace in full
 */
function tokenPath(model: ExplorableModel, trace: ModelTrace, site: Site, layer: number) {
  const { arrays } = trace;
  const stack = stackOf(site);
  const tokens = part(arrays[`${stack}.token_vectors`]);
  const embedding = part(arrays[`${stack}.embedding`]);
  const [, , queries, keys] = arrays[`${site}.attention`].shape;
  const found: Record<string, PayloadArray> = {
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
    candidates: [] as string[][],
    early: [] as string[][],
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
 * For each query the logits of the first candidates, the log-sum-exp of all logits, and the sum of
 * all probabilities to the power 1 / temperature.
 * @param trace in full
 */
function nextTokens({ arrays, candidates }: ModelTrace) {
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

/** The labels of the first candidates of each query. */
function firstLabels({ candidates, targetTokens }: ModelTrace) {
  const first = candidates.filter(({ rank }) => rank <= CANDIDATES);
  return targetTokens.map((_, row) =>
    first.flatMap(({ step, token }) => (step === row + 1 ? token : [])),
  );
}

/**
 * What the model would predict from the output (T, D) of a layer of the decoder, if it were the last
 * one (nostalgebraist 2020, the logit lens).
 */
function earlyPredictions({ checkpoint }: ExplorableModel, output: PayloadArray, rows: number) {
  const { transformer, targetVocabulary } = checkpoint;
  const hidden = output as Float32Array;
  const { norm } = transformer.decoder;
  const normed = norm ? layerNorm(hidden, rows, norm) : hidden;
  const logits = linear(normed, rows, transformer.logits.parameters);
  const size = logits.length / rows;
  const labels: string[][] = [];
  const shares: number[] = [];
  for (let row = 0; row < rows; row++) {
    const probabilities = probabilitiesOf(logits.subarray(row * size, (row + 1) * size));
    const best = mostProbable(probabilities, EARLY);
    labels.push(targetVocabulary.labels(best));
    shares.push(...best.map((id) => probabilities[id]));
  }
  return { labels, probabilities: Float32Array.from(shares) };
}

function logOfSum(logits: Float32Array) {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - largest), 0);
  return Math.log(sum) + largest;
}

/** A part of an array by its first indices. */
function part({ values, shape }: CapturedArray, ...indices: number[]) {
  let [start, length] = [0, values.length];
  indices.forEach((index, axis) => {
    length /= shape[axis];
    start += index * length;
  });
  return (values as Float32Array).slice(start, start + length);
}

/**
 * The outputs (H, T, K) of all heads of a layer beside each other: (T, H · K).
 * @param outputs (layer, H, T, K)
 */
function sideBySide(outputs: CapturedArray, layer: number) {
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
