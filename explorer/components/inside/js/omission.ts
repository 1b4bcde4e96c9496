import { element, write } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { createStore } from "../../dom/js/store.ts";
import { readEnvelope } from "../../page/js/envelope.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { OMISSIONS } from "../../trace/js/look.ts";
import {
  currentRow,
  headPlace,
  mapTitle,
  rowOf,
  shownKeys,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading } from "../../trace/js/traceQuestions.ts";
import { createWeightTable, type Weights } from "./weightTable.ts";

/** A head of a model without one of its parts, in the format of `inside/payload.py`. */
export interface Omission {
  queries: string[]; // labels
  keys: string[];
  text: string; // what is decoded
  weights: Float32Array; // query × key
  masked: Uint8Array; // codes, query × key
}

/**
 * What the scaling, the masks and the positions are for: the same head, and the output, without.
 */
export function createOmissionView(context: TraceContext) {
  const { say, state } = context;
  const chosen = createStore({ part: "" }); // by the person
  let part = "";
  const choice = { names: OMISSIONS, prefix: "without", label: "without_parts", small: true };
  const radios = createRadios(say, choice, (name) => chosen.set({ part: name }));
  const [own, other, difference] = ["own", "other", "difference"].map((name) =>
    createWeightTable(`without-${name}`),
  );
  const outputs = element("p", { class: "number", testid: "without-outputs" });
  const note = element("p", { class: "note" });
  const maps = element(
    "div",
    { class: "without-maps" },
    own.element,
    other.element,
    difference.element,
  );
  const node = element(
    "div",
    { class: "without", testid: "without" },
    radios.element,
    maps,
    outputs,
    note,
  );
  const load = createLoading(context, "without", readOmission);
  const find = () => {
    part = chosen.values.part || (state.site === "decoder" ? "mask" : "positions"); // which change most
    radios.check(part);
    return load(`${headPlace(context)}/${part}`);
  };
  const draw = (found: Omission) => {
    const site = siteOf(context);
    const rows = visibleRows(context);
    const current = currentRow(context);
    const name = mapTitle(context);
    const as = {
      queries: site.queryTokens.slice(0, rows),
      keys: site.keyTokens,
      row: (query: number) => rowOf(site, state.layer, state.head, query),
    };
    const known = state.site === "decoder" ? shownKeys(context) : Number.POSITIVE_INFINITY;
    own.draw(say("without_own", { name }), hideLater(as, known), current);
    const missing = say(`without_${part}`);
    const asOther = weightsOf(found, state.site === "encoder" ? found.queries.length : rows);
    other.draw(say("without_other", { name, part: missing }), hideLater(asOther, known), current);
    const change = hideLater(differenceOf(as, asOther), known);
    difference.draw(say("without_difference"), change, current);
    write(outputs, outputsText(context, part, found.text));
    write(note, say(part === "mask" ? "without_note_mask" : "without_note"));
  };
  return { element: node, find, draw };
}

/** @param shown how many queries are */
function weightsOf({ queries, keys, weights, masked }: Omission, shown: number): Weights {
  const row = (query: number) => {
    const [start, end] = [query * keys.length, (query + 1) * keys.length];
    return { weights: weights.subarray(start, end), masked: masked.subarray(start, end) };
  };
  return { queries: queries.slice(0, shown), keys, row };
}

/**
 * The outputs with a part and without it, once nothing of them is ahead, and why the one without
 * the mask is the same where it is.
 * @param other the output without it
 */
export function outputsText(
  { trace, state, pieces, say }: Pick<TraceContext, "trace" | "state" | "pieces" | "say">,
  part: string,
  other: string,
) {
  const decodes = trace.predicted.length > 0;
  const facts = { text: pieces.header.text ?? "", other, part: say(`without_${part}`) };
  if (decodes && !state.ahead && state.step < trace.steps) return say("without_ahead", facts);
  if (facts.text !== other) return say("without_outputs", facts);
  const same = say("without_same", facts);
  return decodes && part === "mask" ? `${same} ${say("without_mask_same")}` : same;
}

/**
 * Weights whose keys after the first ones are not named, as they are not yet decoded.
 * @param known how many keys are
 */
export function hideLater(weights: Weights, known: number): Weights {
  return { ...weights, keys: weights.keys.map((label, key) => (key < known ? label : "·")) };
}

/**
 * How much more weight a part left out gives, as far as both have the same tokens: the difference
 * of the numbers in their tables.
 */
export function differenceOf(own: Weights, other: Weights): Weights {
  const [queries, keys] = [common(own.queries, other.queries), common(own.keys, other.keys)];
  const row = (query: number) => {
    const [before, after] = [own.row(query), other.row(query)];
    const weights = keys.map(
      (_, key) => inTable(after.weights[key]) - inTable(before.weights[key]),
    );
    const masked = keys.map((_, key) => (before.masked[key] ? after.masked[key] : 0));
    return { weights, masked };
  };
  return { queries, keys, row, signed: true };
}

/** A weight as a table prints it. */
function inTable(weight: number) {
  return Number(weight.toFixed(2));
}

/** The labels with which both begin. */
function common(one: readonly string[], other: readonly string[]) {
  const end = one.findIndex((label, index) => label !== other[index]);
  return end < 0 ? one : one.slice(0, end);
}

export function readOmission(bytes: Uint8Array): Omission {
  const { header, array } = readEnvelope<{ queries: string[]; keys: string[]; text: string }>(
    bytes,
  );
  const weights = array("weights") as Float32Array | null;
  const masked = array("masked") as Uint8Array | null;
  if (!weights || !masked) throw new Error("no weights");
  const { queries, keys, text } = header;
  return { queries, keys, text, weights, masked };
}
