import { reachOf } from "./contributions.js";
import { openQuestions } from "./lessonEvents.js";
import { FULL_WEIGHT } from "./trace.js";
import { holds, offers } from "./traceQuestions.js";

/** @import { HeadOrMethod, Method } from "./contributions.js" */
/** @import { TraceState } from "./initialState.js" */
/** @import { Site, Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * The attention on screen.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function siteOf(context) {
  const { trace, state } = context;
  return (
    (showsPredicting(context) && trace.predicting) || /** @type {Site} */ (trace.sites[state.site])
  );
}

/**
 * Whether each row is what predicts the next word, as in words where those are linked from there.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function showsPredicting({ trace, state }) {
  return state.site === "cross" && state.alignment === "prediction" && trace.predicting !== null;
}

/**
 * The row of the current query. The encoder is computed once, before step 1, and has none (−1);
 * without a decoder, its rows of mask tokens are gone through.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function currentRow({ trace, state }) {
  if (state.site === "encoder") return trace.masks[state.step - 1] ?? -1;
  return state.step - 1;
}

/**
 * The step whose current row is `row`; 0 where it is none's.
 * @param {Pick<TraceContext, "trace" | "state">} context
 * @param {number} row
 */
export function stepOfRow({ trace, state }, row) {
  return state.site === "encoder" ? trace.masks.indexOf(row) + 1 : row + 1;
}

/**
 * What the rows of the attention on screen predict, "" where nothing; empty without predictions.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function predictionsOf({ trace, state }) {
  return state.site === "encoder" ? trace.fillings : trace.predicted;
}

/**
 * How many rows are shown: all, or those decoded so far. An encoder computes all at once.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function shownRows(context) {
  const site = siteOf(context);
  const row = currentRow(context);
  const all = row < 0 || context.state.ahead || site.name === "encoder";
  return all ? site.queries : Math.min(row + 1, site.queries);
}

/**
 * Whether a row predicts a token of the prompt, which is given.
 * @param {Pick<Trace, "prompt">} trace
 * @param {number} row
 */
export function isGiven({ prompt }, row) {
  return row + 1 < prompt;
}

/**
 * "step 3/8" or, where mask tokens are gone through, "mask 1/2".
 * @param {Pick<TraceContext, "trace" | "state" | "say">} context
 */
export function stepName({ trace, state, say }) {
  const of = trace.masks.length ? "mask_of" : "step_of";
  return say(of, { step: state.step, steps: trace.steps });
}

/**
 * How many keys are shown: in the decoder, keys are target tokens too.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function shownKeys(context) {
  const site = siteOf(context);
  return site.name === "decoder" ? shownRows(context) : site.keys;
}

/**
 * What the large map shows of the layer: the selected head, or contributions by a method. Leave-one-out
 * measures output tokens, and has nothing of the encoder, where the head stays.
 * @param {Pick<TraceState, "site" | "head" | "shows">} state
 * @returns {HeadOrMethod}
 */
export function shownHead({ site, head, shows }) {
  if (shows === "weight" || (shows === "leave_one_out" && site === "encoder")) return head;
  return shows;
}

/**
 * The method by which the large map shows contributions; null where it shows weights.
 * @param {Pick<TraceContext, "state">} context
 */
export function shownMethod({ state }) {
  const head = shownHead(state);
  return typeof head === "string" ? head : null;
}

/**
 * The codes of one row of a head.
 * @param {Site} site
 * @param {number} layer
 * @param {HeadOrMethod} head
 * @param {number} query
 */
export function rowCodes(site, layer, head, query) {
  return site.weights(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
}

/**
 * One row of a head, by key.
 * @param {Site} site
 * @param {number} layer
 * @param {HeadOrMethod} head
 * @param {number} query
 */
export function rowOf(site, layer, head, query) {
  return {
    weights: Array.from(
      rowCodes(site, layer, head, query),
      (code) => (code / FULL_WEIGHT) * site.scale,
    ),
    masked: site.masked(layer, head).subarray(query * site.keys, (query + 1) * site.keys),
  };
}

/**
 * The weight of one cell of a head, 0..scale.
 * @param {Site} site
 * @param {number} layer
 * @param {HeadOrMethod} head
 * @param {number} query
 * @param {number} key
 */
export function weightAt(site, layer, head, query, key) {
  return (site.weights(layer, head)[query * site.keys + key] / FULL_WEIGHT) * site.scale;
}

/**
 * What no key of a row contributes: in cross-attention, what the query keeps of itself, and of all
 * layers together what is of the prefix.
 * @param {Site} site
 * @param {number} layer
 * @param {Method} method
 * @param {number} query
 */
export function otherShare(site, layer, method, query) {
  const { weights } = rowOf(site, layer, method, query);
  return Math.max(0, 1 - weights.reduce((sum, weight) => sum + weight, 0));
}

/**
 * The candidate that was taken after `row`; undefined where none was recorded.
 * @param {Trace} trace
 * @param {number} row
 */
export function chosenAt(trace, row) {
  return trace.candidates[row]?.find((candidate) => candidate.chosen);
}

/**
 * The cell whose arithmetic is shown: in the current row, where there is one; null while none is.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function shownCell(context) {
  const { inside } = context.state;
  if (!inside) return null;
  const site = siteOf(context);
  const row = currentRow(context);
  return {
    query: Math.min(row < 0 ? inside.query : row, site.queries - 1),
    key: Math.min(inside.key, site.keys - 1),
  };
}

/**
 * Whether a card of a lesson, this or a later one, asks for something of a cell.
 * @param {Pick<TraceContext, "trace" | "state">} context
 * @param {string} answer its name in a lesson
 * @param {{query: number, key: number}} cell
 * @param {number} [layer]
 * @param {HeadOrMethod} [head]
 */
export function isAsked(context, answer, { query, key }, layer, head) {
  const { state } = context;
  return openQuestions().some(
    (one) =>
      one.answer === answer &&
      (one.site ?? state.site) === state.site &&
      one.layer === (layer ?? state.layer) &&
      one.head === (head ?? shownHead(state)) &&
      one.query === query &&
      (one.key ?? largestKey(siteOf(context), one)) === key,
  );
}

/**
 * Whether a card of a lesson, this or a later one, asks how probable the token after a row is.
 * @param {number} row
 */
export function asksProbability(row) {
  return openQuestions().some(({ answer, query }) => answer === "probability" && query === row);
}

/**
 * The key with the largest weight in a row.
 * @param {Site} site
 * @param {{layer: number, head: number, query: number}} row
 */
function largestKey(site, { layer, head, query }) {
  const codes = rowCodes(site, layer, head, query);
  return codes.indexOf(Math.max(...codes));
}

/**
 * The head on screen, as a place that is asked about.
 * @param {Pick<TraceContext, "state">} context
 */
export function headPlace({ state: { site, layer, head } }) {
  return `${site}/${layer}/${head}`;
}

/**
 * The name of a head, as everywhere in the app.
 * @param {number} layer
 * @param {number} head
 */
export function headName(layer, head) {
  return `L${layer} H${head}`;
}

/**
 * The number in the model of a layer of the attention on screen.
 * @param {Pick<TraceContext, "trace" | "state">} context
 * @param {number} layer
 */
export function layerNumber(context, layer) {
  return siteOf(context).numbers[layer];
}

/**
 * The name of a head, or of the mean or all of a layer's heads, of the attention on screen; of
 * contributions through several layers, which.
 * @param {Pick<TraceContext, "trace" | "state" | "say">} context
 * @param {number} layer
 * @param {HeadOrMethod} head
 */
export function shownName(context, layer, head) {
  const number = layerNumber(context, layer);
  if (typeof head === "string") return context.say(`${reachOf(head)}_of`, { layer: `L${number}` });
  if (head >= 0) return headName(number, head);
  return context.say("mean_of", { layer: `L${number}` });
}

/**
 * Whether the weights of a head can be shown; an exported page may hold those of some heads only.
 * @param {TraceContext} context
 * @param {number} layer
 * @param {HeadOrMethod} head
 */
export function isHeld(context, layer, head) {
  return !offers(context, "head") || holds(context, "head", siteOf(context).nameOf(layer, head));
}

/**
 * "Cross · L1 H3", and which rows are shown where they are not those of the tokens fed in.
 * @param {Pick<TraceContext, "trace" | "say" | "state">} context
 */
export function mapTitle(context) {
  const { say, state } = context;
  const name = shownName(context, state.layer, shownHead(state));
  const rows = showsPredicting(context) ? [say("predicting_rows")] : [];
  return [say(`site_${state.site}`), name, ...rows].join(" · ");
}
