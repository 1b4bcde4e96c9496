import { type HeadOrMethod, type Method, reachOf } from "./contributions.ts";
import type { TraceState } from "./initialState.ts";
import { FULL_WEIGHT } from "./look.ts";
import type { Site, Trace } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";
import { holds, offers } from "./traceQuestions.ts";

/** A trace and what is shown of it. */
export type TraceOnScreen = Pick<TraceContext, "trace" | "state">;

/** The attention on screen. */
export function siteOf(context: TraceOnScreen) {
  const { trace, state } = context;
  return (showsPredicting(context) && trace.predicting) || (trace.sites[state.site] as Site);
}

/**
 * Whether each row is what predicts the next word, as in words where those are linked from there.
 */
export function showsPredicting({ trace, state }: TraceOnScreen) {
  return state.site === "cross" && state.alignment === "prediction" && trace.predicting !== null;
}

/**
 * The row of the current query. The encoder is computed once, before step 1, and has none (−1);
 * without a decoder, its rows of mask tokens are gone through.
 */
export function currentRow({ trace, state }: TraceOnScreen) {
  if (state.site === "encoder") return trace.masks[state.step - 1] ?? -1;
  return state.step - 1;
}

/** The step whose current row is `row`; 0 where it is none's. */
export function stepOfRow({ trace, state }: TraceOnScreen, row: number) {
  return state.site === "encoder" ? trace.masks.indexOf(row) + 1 : row + 1;
}

/**
 * What the rows of the attention on screen predict, "" where nothing; empty without predictions.
 */
export function predictionsOf({ trace, state }: TraceOnScreen) {
  return state.site === "encoder" ? trace.fillings : trace.predicted;
}

/** How many rows are shown: all, or those decoded so far. An encoder computes all at once. */
export function shownRows(context: TraceOnScreen) {
  const site = siteOf(context);
  const row = currentRow(context);
  const all = row < 0 || context.state.ahead || site.name === "encoder";
  return all ? site.queries : Math.min(row + 1, site.queries);
}

/** Whether a row predicts a token of the prompt, which is given. */
export function isGiven({ prompt }: Pick<Trace, "prompt">, row: number) {
  return row + 1 < prompt;
}

/** "step 3/8" or, where mask tokens are gone through, "mask 1/2". */
export function stepName({ trace, state, say }: Pick<TraceContext, "trace" | "state" | "say">) {
  const of = trace.masks.length ? "mask_of" : "step_of";
  return say(of, { step: state.step, steps: trace.steps });
}

/** How many keys are shown: in the decoder, keys are target tokens too. */
export function shownKeys(context: TraceOnScreen) {
  const site = siteOf(context);
  return site.name === "decoder" ? shownRows(context) : site.keys;
}

/**
 * What the large map shows of the layer: the selected head, or contributions by a method. Leave-one-out
 * measures output tokens, and has nothing of the encoder, where the head stays.
 */
export function shownHead({
  site,
  head,
  shows,
}: Pick<TraceState, "site" | "head" | "shows">): HeadOrMethod {
  if (shows === "weight" || (shows === "leave_one_out" && site === "encoder")) return head;
  return shows;
}

/** The method by which the large map shows contributions; null where it shows weights. */
export function shownMethod({ state }: Pick<TraceContext, "state">) {
  const head = shownHead(state);
  return typeof head === "string" ? head : null;
}

/** The codes of one row of a head. */
export function rowCodes(site: Site, layer: number, head: HeadOrMethod, query: number) {
  return site.weights(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
}

/** One row of a head, by key. */
export function rowOf(site: Site, layer: number, head: HeadOrMethod, query: number) {
  return {
    weights: Array.from(
      rowCodes(site, layer, head, query),
      (code) => (code / FULL_WEIGHT) * site.scale,
    ),
    masked: site.masked(layer, head).subarray(query * site.keys, (query + 1) * site.keys),
  };
}

/** The weight of one cell of a head, 0..scale. */
export function weightAt(
  site: Site,
  layer: number,
  head: HeadOrMethod,
  query: number,
  key: number,
) {
  return (site.weights(layer, head)[query * site.keys + key] / FULL_WEIGHT) * site.scale;
}

/**
 * What no key of a row contributes: in cross-attention, what the query keeps of itself, and of all
 * layers together what is of the prefix.
 */
export function otherShare(site: Site, layer: number, method: Method, query: number) {
  const { weights } = rowOf(site, layer, method, query);
  return Math.max(0, 1 - weights.reduce((sum, weight) => sum + weight, 0));
}

/** The candidate that was taken after `row`; undefined where none was recorded. */
export function chosenAt(trace: Trace, row: number) {
  return trace.candidates[row]?.find((candidate) => candidate.chosen);
}

/**
 * The cell whose arithmetic is shown: in the current row, where there is one; null while none is.
 */
export function shownCell(context: TraceOnScreen) {
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
 * @param answer its name in a lesson
 */
export function isAsked(
  context: Pick<TraceContext, "trace" | "state" | "asked">,
  answer: string,
  { query, key }: { query: number; key: number },
  layer?: number,
  head?: HeadOrMethod,
) {
  const { state } = context;
  return context.asked.open.some(
    (one) =>
      one.answer === answer &&
      (one.site ?? state.site) === state.site &&
      one.layer === (layer ?? state.layer) &&
      one.head === (head ?? shownHead(state)) &&
      one.query === query &&
      (one.key ?? largestKey(siteOf(context), one.layer, one.head, query)) === key,
  );
}

/** Whether a card of a lesson, this or a later one, asks how probable the token after a row is. */
export function asksProbability({ asked }: Pick<TraceContext, "asked">, row: number) {
  return asked.open.some(({ answer, query }) => answer === "probability" && query === row);
}

/** The key with the largest weight in a row. */
export function largestKey(site: Site, layer: number, head: HeadOrMethod, query: number) {
  const codes = rowCodes(site, layer, head, query);
  return codes.indexOf(Math.max(...codes));
}

/** The head on screen, as a place that is asked about. */
export function headPlace({ state: { site, layer, head } }: Pick<TraceContext, "state">) {
  return `${site}/${layer}/${head}`;
}

/** The name of a head, as everywhere in the app. */
export function headName(layer: number, head: number) {
  return `L${layer} H${head}`;
}

/** The layer and the head with an index among all heads, counted through the layers. */
export function headAt(index: number, heads: number) {
  return { layer: Math.floor(index / heads), head: index % heads };
}

/** The number in the model of a layer of the attention on screen. */
export function layerNumber(context: TraceOnScreen, layer: number) {
  return siteOf(context).numbers[layer];
}

/**
 * The name of a head, or of the mean or all of a layer's heads, of the attention on screen; of
 * contributions through several layers, which.
 */
export function shownName(
  context: Pick<TraceContext, "trace" | "state" | "say">,
  layer: number,
  head: HeadOrMethod,
) {
  const number = layerNumber(context, layer);
  if (typeof head === "string") return context.say(`${reachOf(head)}_of`, { layer: `L${number}` });
  if (head >= 0) return headName(number, head);
  return context.say("mean_of", { layer: `L${number}` });
}

/**
 * Whether the weights of a head can be shown; an exported page may hold those of some heads only.
 */
export function isHeld(context: TraceContext, layer: number, head: HeadOrMethod) {
  return !offers(context, "head") || holds(context, "head", siteOf(context).nameOf(layer, head));
}

/** "Cross · L1 H3", and which rows are shown where they are not those of the tokens fed in. */
export function mapTitle(context: Pick<TraceContext, "trace" | "say" | "state">) {
  const { say, state } = context;
  const name = shownName(context, state.layer, shownHead(state));
  const rows = showsPredicting(context) ? [say("predicting_rows")] : [];
  return [say(`site_${state.site}`), name, ...rows].join(" · ");
}

/** Whether only what a first look needs is shown, as in every lesson. */
export function isSimple({ state, inLesson }: Pick<TraceContext, "state" | "inLesson">) {
  return !state.everything || inLesson;
}
