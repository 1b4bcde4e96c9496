import { FULL_WEIGHT, MEAN } from "./trace.js";

/** @import { Say } from "./sentences.js" */
/** @import { Site, Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * The attention on screen.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function siteOf({ trace, state }) {
  return /** @type {Site} */ (trace.sites[state.site]);
}

/**
 * The row of the current query; −1 in the encoder, which is computed once, before step 1.
 * @param {Pick<TraceContext, "state">} context
 */
export function currentRow({ state }) {
  return state.site === "encoder" || state.step === 0 ? -1 : state.step - 1;
}

/**
 * How many rows are shown: all, or those decoded so far.
 * @param {Pick<TraceContext, "trace" | "state">} context
 */
export function shownRows(context) {
  const site = siteOf(context);
  const row = currentRow(context);
  return row < 0 || context.state.ahead ? site.queries : Math.min(row + 1, site.queries);
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
 * The codes of one row of a head.
 * @param {Site} site
 * @param {number} layer
 * @param {number} head
 * @param {number} query
 */
export function rowCodes(site, layer, head, query) {
  return site.weights(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
}

/**
 * One row of a head, by key.
 * @param {Site} site
 * @param {number} layer
 * @param {number} head
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
 * @param {number} head
 * @param {number} query
 * @param {number} key
 */
export function weightAt(site, layer, head, query, key) {
  return (site.weights(layer, head)[query * site.keys + key] / FULL_WEIGHT) * site.scale;
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
 * The name of a head, as everywhere in the app.
 * @param {number} layer
 * @param {number} head
 */
export function headName(layer, head) {
  return `L${layer} H${head}`;
}

/**
 * The name of a head, or of the mean of a layer's heads.
 * @param {{say: Say}} context
 * @param {number} layer
 * @param {number} head
 */
export function shownName({ say }, layer, head) {
  return head === MEAN ? say("mean_of", { layer: `L${layer}` }) : headName(layer, head);
}

/**
 * "Cross · L1 H3".
 * @param {Pick<TraceContext, "say" | "state">} context
 */
export function mapTitle(context) {
  const { say, state } = context;
  return `${say(`site_${state.site}`)} · ${shownName(context, state.layer, state.head)}`;
}
