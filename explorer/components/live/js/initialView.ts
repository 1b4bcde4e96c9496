import type { Zoom } from "../../trace/js/zoom.ts";
/** The head and step that a text is shown with first, as the app's Explore page chooses them. */

import type { ModelTrace } from "../../browser_model/js/explorableModel.ts";
import { isSpecial } from "../../trace/js/label.ts";
import { FIELDS, type Field, SITES } from "../../trace/js/look.ts";
import type { SiteName, ViewOptions } from "../../trace/js/trace.ts";

/**
 * What a link, or the model, asks for; without a step the
 * one that shows most.
 */
export type InitialView = Partial<ViewOptions>;

const SHARP = 0.5; // a weight that no other key can have too
const SURE = 0.95; // a probability below which the model hesitates

/**
 * Names of the fields of a view that the trace lacks, as `Selection.within` in the app.
 * @param sites layers, heads, queries and keys of each
 */
export function missingIn(
  sites: { [site: string]: { shape: readonly number[] } },
  steps: number,
  view: InitialView,
) {
  const last = [...SITES].reverse().find((site) => site in sites) ?? "";
  const [layers, heads, queries, keys] = (sites[view.site ?? last] ?? sites[last]).shape;
  const within: Record<NonNullable<Field["limit"]>, (value: never) => boolean> = {
    sites: (site: string) => site in sites,
    layers: (layer: number) => layer < layers,
    heads: (head: number) => head < heads,
    steps: (step: number) => step >= 1 && step <= steps,
    cells: ([query, key]: [number, number]) => query < queries && key < keys,
    zooms: ([, last, , lastKey]: Zoom) => last < queries && lastKey < keys,
  };
  const missing = FIELDS.filter(({ name, limit }) => {
    const value = view[name] ?? null;
    return limit && value !== null && !within[limit](value as never);
  });
  return missing.map(({ name }) => name);
}

export function viewWithout(names: string[], view: InitialView): InitialView {
  return Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name)));
}

/** What of a view the trace has. */
export function viewWithin(trace: ModelTrace, view: InitialView): InitialView {
  const sites = Object.fromEntries(
    SITES.filter((site) => `${site}.attention` in trace.arrays).map((site) => [
      site,
      trace.arrays[`${site}.attention`],
    ]),
  );
  return viewWithout(missingIn(sites, trace.targetTokens.length, view), view);
}

/** @param original labels of the output of the model as it is */
export function initialView(
  trace: ModelTrace,
  asked: InitialView,
  forced: [number, number][],
  original: string[],
): Partial<ViewOptions> {
  const steps = trace.targetTokens.length;
  const chosen = asked.step ?? initialStep(trace, asked);
  const atEnd = chosen === null || chosen > steps || (chosen === steps && asked.ahead !== false);
  const guess = Boolean(asked.guess);
  return {
    ...asked,
    step: guess ? (asked.step ?? 1) : atEnd ? null : chosen,
    ahead: guess ? null : (asked.ahead ?? (asked.step ? null : true)),
    guess,
    alignment: asked.alignment ?? "off",
    suggested: !asked.step && !atEnd && !guess,
    what_if: true,
    forced: forced.map(([step]) => [step, trace.predictedTokens[step - 1]]),
    original,
  };
}

/**
 * The step, from 1, that shows most: of a cross head the one where it looks sharply at content, where
 * it goes back in the source before others, among these where the model hesitates, and the first one
 * last; of a head of a decoder alone the one with the largest weight on gold; of anything else the
 * last one that predicts content. Null without one. As `initial_step` in `heads/initial_head.py`.
 */
export function initialStep(trace: ModelTrace, { site, layer, head }: InitialView): number | null {
  const rows = trace.predictedTokens.map((token) => !isSpecial(token));
  if (!rows.includes(true)) return null;
  const source = trace.sourceTokens.map((token) => !isSpecial(token));
  const named = typeof layer === "number" && typeof head === "number";
  const { gold } = trace.arrays;
  if (named && site === "decoder" && gold && !source.length) {
    const weights = weightsOf(trace, site, layer, head);
    const onGold = weights.map((weight, cell) => (gold.values[cell] ? weight : 0));
    return Math.floor(onGold.indexOf(Math.max(...onGold)) / gold.shape[1]) + 1;
  }
  if (site !== "cross" || !named || !source.includes(true)) return rows.lastIndexOf(true) + 1;
  const weights = weightsOf(trace, site, layer, head);
  const keys = source.length;
  const hesitates = hesitatingSteps(trace);
  let best = { step: 0, rank: -1 };
  let before = 0;
  rows.forEach((shown, row) => {
    const own = weights.slice(row * keys, (row + 1) * keys);
    const onContent = own.map((weight, key) => (source[key] ? weight : 0));
    const peak = Math.max(...onContent);
    const key = onContent.indexOf(peak);
    const crosses = row > 0 && key < before && peak > SHARP;
    const rank = peak + Number(row > 0) + Number(crosses) * (hesitates.has(row + 1) ? 2 : 1);
    if (shown && rank > best.rank) best = { step: row + 1, rank };
    before = key;
  });
  return best.step || null;
}

/** The weights of a head, row by row. */
function weightsOf({ arrays }: ModelTrace, site: SiteName, layer: number, head: number) {
  const { values, shape } = arrays[`${site}.attention`];
  const [, heads, queries, keys] = shape;
  const start = (layer * heads + head) * queries * keys;
  return Array.from(values.subarray(start, start + queries * keys));
}

/** The steps at which the model chose a token that it is not sure of. */
function hesitatingSteps({ candidates }: ModelTrace) {
  const unsure = candidates.filter(
    ({ chosen, forced, probability }) => chosen && !forced && probability < SURE,
  );
  return new Set(unsure.map(({ step }) => step));
}
