/**
 * A trace as a payload for the player, the one that `player/payload.py` makes of a trace in Python.
 */

import type { Strings } from "../../dom/js/sentences.ts";
import { type PayloadArray, packEnvelope } from "../../page/js/envelope.ts";
import { linesIn } from "../../trace/js/interventions.ts";
import { isSpecial } from "../../trace/js/label.ts";
import { FORMAT_VERSION, FULL_WEIGHT, MASK_REASONS, UNMASKED, VIEW } from "../../trace/js/look.ts";
import { headAt } from "../../trace/js/stepState.ts";
import type { ViewOptions } from "../../trace/js/trace.ts";
import { type CapturedArray, type Site, sitesOf } from "./attentionCapture.ts";
import type { ModelTrace } from "./explorableModel.ts";
import type { Check } from "./integrity.ts";
import { interventionsOf, isRemoved } from "./interventions.ts";
import { TRACE_QUESTIONS } from "./traceQuestions.ts";
import { mergedTrace } from "./traceWords.ts";
import { grouped, marksWords } from "./wordSegmentation.ts";

/** What a payload tells the player beside the trace. */
export interface PlayerSettings {
  view: Partial<ViewOptions>;
  language: string;
  strings: Strings; // the player's
  project: string; // name and version
}

/** @param integrity null where it is checked later */
export function tracePayload(
  trace: ModelTrace,
  { view, language, strings, project }: PlayerSettings,
  integrity: Check[] | null,
): Uint8Array<ArrayBuffer> {
  const whole = { ...VIEW, ...view };
  const { arrays, header } = partsOf(trace);
  const words = wordsPayload(trace, whole);
  if (words) arrays.words = words;
  const { sourceTokens, targetTokens, predictedTokens } = trace;
  return packEnvelope(
    {
      ...header,
      version: FORMAT_VERSION,
      project,
      reasons: MASK_REASONS,
      integrity,
      language,
      strings,
      view: whole,
      marked: marksWords([...sourceTokens, ...targetTokens, ...predictedTokens]),
      resources: { address: "", names: TRACE_QUESTIONS, methods: [] },
    },
    arrays,
  );
}

/** The trace in words, with a header of what differs; null where every word is one piece. */
function wordsPayload(trace: ModelTrace, view: ViewOptions) {
  const merged = mergedTrace(trace);
  if (!merged) return null;
  const { arrays, header } = partsOf(merged.trace);
  const { rows, columns, prompt } = merged;
  const labels = [...trace.sourceTokens, ...trace.targetTokens, ...view.original];
  const original = grouped(view.original, marksWords(labels)).map(({ label }) => label);
  return packEnvelope({ ...header, rows, columns, original, prompt }, arrays);
}

/** The arrays of one trace, and its part of the header. */
function partsOf(trace: ModelTrace) {
  const arrays: Record<string, PayloadArray> = {};
  const sites: Record<string, object> = {};
  for (const site of sitesOf(trace.facts.config)) sites[site] = addSite(arrays, trace, site);
  const labels = [...new Set(trace.candidates.map(({ token }) => token))].sort(byCodePoints);
  addSteps(arrays, trace, labels);
  if (trace.arrays.gold) arrays.gold = bitsOf(trace.arrays.gold);
  const outputs = [...trace.targetTokens.slice(1), ...trace.predictedTokens.slice(-1)];
  const isContent = (token: string) => !isSpecial(token);
  const header = {
    source: trace.sourceTokens,
    target: trace.targetTokens,
    predicted: trace.predictedTokens,
    text: trace.text,
    content: { source: trace.sourceTokens.map(isContent), outputs: outputs.map(isContent) },
    sites,
    labels,
    facts: trace.facts,
    prompt: trace.facts.prompt ?? 0,
  };
  return { arrays, header };
}

/** Add the weight and mask codes of a site to `arrays`; the header of the site. */
function addSite(arrays: Record<string, PayloadArray>, trace: ModelTrace, site: Site) {
  const { shape } = trace.arrays[`${site}.attention`];
  const shared = trace.arrays[`${site}.closed`].shape.length === 2; // one mask for all heads
  const values = trace.arrays[`${site}.attention`].values as Float32Array;
  const maskCodes = trace.arrays[`${site}.closed`].values as Uint8Array;
  const area = maskCodes.length;
  const scale = values.reduce((most, weight) => Math.max(most, weight), 1);
  const masked = maskCodes.some((code) => code !== UNMASKED);
  const packed =
    shared &&
    masked &&
    values.every((weight, cell) => maskCodes[cell % area] === UNMASKED || weight === 0);
  const sent = packed ? values.filter((_, cell) => maskCodes[cell % area] === UNMASKED) : values;
  arrays[`${site}.attention`] = Uint16Array.from(sent, (weight) => codeOf(weight / scale));
  if (masked) arrays[`${site}.closed`] = maskCodes;
  return {
    shape,
    scale,
    packed,
    numbers: Array.from({ length: shape[0] }, (_, n) => n),
    removed: removedHeads(trace.facts, site, shape[0], shape[1]),
  };
}

/** Layer and head of each removed head of a site, with its replacement. */
function removedHeads(
  facts: Pick<ModelTrace["facts"], "interventions">,
  site: Site,
  layers: number,
  heads: number,
) {
  const interventions = interventionsOf(linesIn(facts));
  return Array.from({ length: layers * heads }, (_, index) => headAt(index, heads))
    .filter(({ layer, head }) => isRemoved(interventions, { site, layer, head }))
    .map(({ layer, head }) => [layer, head, "zero"]);
}

/** The code of a share of the largest weight. */
function codeOf(share: number) {
  return Math.round(Math.min(Math.max(share, 0), 1) * FULL_WEIGHT);
}

/** Add the candidates of all steps to `arrays`. */
function addSteps(
  arrays: Record<string, PayloadArray>,
  { candidates }: ModelTrace,
  labels: string[],
) {
  const places = new Map(labels.map((label, place) => [label, place]));
  arrays["steps.step"] = Uint16Array.from(candidates, ({ step }) => step);
  arrays["steps.rank"] = Uint32Array.from(candidates, ({ rank }) => rank);
  arrays["steps.probability"] = Float32Array.from(candidates, ({ probability }) => probability);
  arrays["steps.chosen"] = Uint8Array.from(candidates, ({ chosen }) => Number(chosen));
  arrays["steps.forced"] = Uint8Array.from(candidates, ({ forced }) => Number(forced));
  arrays["steps.id"] = Uint32Array.from(candidates, ({ id }) => id);
  arrays["steps.label"] = Uint32Array.from(candidates, ({ token }) => places.get(token) ?? 0);
}

/** The gold alignment as bits, the first in the lowest place. */
function bitsOf({ values }: CapturedArray) {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  values.forEach((value, index) => {
    if (value) bits[index >> 3] |= 1 << (index & 7);
  });
  return bits;
}

/** The order of Python's strings. */
function byCodePoints(one: string, other: string) {
  const [first, second] = [one, other].map((text) =>
    Array.from(text, (letter) => letter.codePointAt(0) ?? 0),
  );
  const at = first.findIndex((point, index) => point !== second[index]);
  return at < 0 ? first.length - second.length : first[at] - (second[at] ?? -1);
}
