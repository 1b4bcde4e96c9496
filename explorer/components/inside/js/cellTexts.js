import { labelOf } from "../../shared/js/label.js";
import { ASKED } from "../../shared/js/lessonEvents.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { isAsked, mapTitle, siteOf } from "../../shared/js/stepState.js";
import { printCell, printMasked } from "./equationDigits.js";
import { printedPower, printedWeight, subscript } from "./numbers.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { CellArithmetic, HeadVectors } from "./arithmetic.js" */
/** @import { CellNumbers, PrintedScaling } from "./equationDigits.js" */
/** @import { Printed } from "./numbers.js" */

const ROOT_DIGITS = 4; // of a root that is no whole number

/** @typedef {"product" | "scaled" | "mask" | "softmax" | "value" | "output"} StepName */

/**
 * @typedef {object} CellTexts what stands beside the pictures of a calculation
 * @property {string} sentence the calculation in one line
 * @property {Record<StepName, string>} numbers
 * @property {Record<"scaled" | "mask", string>} notes
 */

/** @type {StepName[]} */
export const STEPS = ["product", "scaled", "mask", "softmax", "value", "output"];

/**
 * The cell of a calculation: head, query and key.
 * @param {TraceContext} context
 * @param {Cell} cell
 */
export function cellTitle(context, { query, key }) {
  const site = siteOf(context);
  return context.say("inside_heading", {
    head: mapTitle(context),
    query: query + 1,
    query_token: labelOf(site.queryTokens[query]),
    key: key + 1,
    key_token: labelOf(site.keyTokens[key]),
  });
}

/**
 * The mask codes of the keys of a query in the selected head.
 * @param {TraceContext} context
 * @param {number} query
 */
export function maskedKeys(context, query) {
  const site = siteOf(context);
  const { layer, head } = context.state;
  return site.masked(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
}

/**
 * The texts of the calculation of a cell.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {CellArithmetic} found
 * @param {Uint8Array} masked codes of the row
 * @param {Cell} cell
 * @returns {CellTexts}
 */
export function cellTexts(context, head, found, masked, cell) {
  const { say } = context;
  const facts = factsOf(context, head, found, masked, cell);
  hideAsked(context, facts, cell);
  const numbers = STEPS.map((name) => [name, say(numberKey(found, name), facts)]);
  return {
    sentence: say(found.masked ? "inside_sentence_masked" : "inside_sentence", facts),
    numbers: Object.fromEntries(numbers),
    notes: { scaled: scalingNote(context, head), mask: maskNote(context, masked) },
  };
}

/**
 * The sentence with the numbers of a step.
 * @param {CellArithmetic} found
 * @param {StepName} name
 */
function numberKey({ masked, sum }, name) {
  const masks = masked && (name === "mask" || name === "softmax");
  if (masks && name === "softmax" && !sum) return "inside_softmax_number_none";
  return `inside_${name}_number${masks ? "_masked" : ""}`;
}

/**
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {CellArithmetic} found
 * @param {Uint8Array} masked codes of the row
 * @param {Cell} cell
 * @returns {Record<string, string | number>}
 */
function factsOf(context, head, found, masked, cell) {
  const { say, trace } = context;
  const { width, scale, cap } = head;
  const { product, bias, largest, sum } = found;
  const score = found.scores[cell.key];
  const usual = isUsual(head) ? width : null;
  const numbers = { product, scale, width: usual, cap, bias, score, largest, sum };
  return {
    ...(found.masked ? maskedFacts(context, head, numbers) : openFacts(context, head, numbers)),
    query: subscript(cell.query + 1),
    key: subscript(cell.key + 1),
    reason: reasonText(say, trace.header.reasons[masked[cell.key]]),
    count: found.unmasked,
    keys: keysText(say, head.sink, cell.query, found.unmasked),
    count_products: found.products.length,
    width: found.value.length,
  };
}

/**
 * The numbers of a masked cell, and of the softmax without it.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {CellNumbers} numbers
 */
function maskedFacts(context, head, numbers) {
  const shown = scalingFacts(context, head, printMasked(numbers));
  return { ...shown, sum: printedPower(numbers.sum).text, weight: printedWeight(0).text };
}

/**
 * The numbers of a cell that is not masked.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {CellNumbers} numbers
 */
function openFacts(context, head, numbers) {
  const found = printCell(numbers);
  return {
    ...scalingFacts(context, head, found),
    exponent: `(${found.score.text} − ${found.largest.text.replace(/^−.*/, "($&)")})`,
    is_power: equals(found.powerFollows),
    power: found.power.text,
    sum: found.sum.text,
    is_weight: equals(found.weightFollows),
    weight: found.weight.text,
  };
}

/**
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {PrintedScaling & {score: Printed}} found
 */
function scalingFacts(context, head, found) {
  return {
    product: found.product.text,
    scaling: scalingText(context, head, found),
    is_score: equals(found.scoreFollows),
    score: found.score.text,
  };
}

/**
 * The sign between the two sides of an equation.
 * @param {boolean} follows whether the right side is what the left side gives as it is printed
 */
function equals(follows) {
  return follows ? "=" : "≈";
}

/**
 * Why a key is masked.
 * @param {TraceContext["say"]} say
 * @param {string} reason as the trace names it
 */
export function reasonText(say, reason) {
  return say(`reason_${reason.replaceAll(" ", "_")}`);
}

/** By what a card asks of the cell, the facts that would tell it: the number, and what is computed with it. */
const TELLING = /** @type {Record<string, string[]>} */ ({
  product: ["product"],
  score: ["score", "exponent"],
  exponent: ["exponent"],
  power: ["power"],
  "sum of powers": ["sum"],
  weight: ["weight"],
});

/**
 * Put "?" in the place of what this or a later card of a lesson asks.
 * @param {TraceContext} context
 * @param {Record<string, string | number>} facts
 * @param {Cell} cell
 */
function hideAsked(context, facts, cell) {
  for (const [answer, telling] of Object.entries(TELLING))
    if (isAsked(context, answer, cell)) for (const name of telling) facts[name] = ASKED;
}

/**
 * What is done with the product: "÷ √32" or, with another scale, "× 0.0625"; then cap and bias.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {PrintedScaling} printed
 */
function scalingText({ say }, head, { scale, cap, bias }) {
  const parts = [isUsual(head) ? `÷ √${head.width}` : `× ${scale}`];
  if (cap !== null) parts.push(say("inside_cap", { cap }));
  if (head.bias) parts.push(say("inside_bias", { bias: bias.text }));
  return parts.join(" ");
}

/**
 * Whether products are divided by the root of their number, as in the paper.
 * @param {HeadVectors} head
 */
function isUsual({ scale, width }) {
  return Math.abs(scale * Math.sqrt(width) - 1) < 1e-4;
}

/**
 * What the scaling is for.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 */
function scalingNote({ say }, head) {
  const root = Math.sqrt(head.width);
  const exact = Number.isInteger(root);
  const text = exact ? String(root) : root.toPrecision(ROOT_DIGITS);
  const facts = { width: head.width, is_root: equals(exact), root: text };
  return say(isUsual(head) ? "inside_scaled_note" : "inside_scaled_note_other", facts);
}

/**
 * What the mask does to the row, and why.
 * @param {TraceContext} context
 * @param {Uint8Array} masked codes of the row
 */
function maskNote({ say, trace }, masked) {
  const codes = [...new Set(masked)].filter(Boolean);
  if (!codes.length) return say("inside_mask_note_none");
  const { reasons } = trace.header;
  const names = codes.map((code) => reasonText(say, reasons[code]));
  const count = masked.reduce((sum, code) => sum + (code ? 1 : 0), 0);
  return say("inside_mask_note", { count, keys: masked.length, reasons: names.join(", ") });
}

/**
 * What the softmax is over: "9 unmasked keys", in some models with a sink and its weight.
 * @param {TraceContext["say"]} say
 * @param {HeadVectors["sink"]} sink
 * @param {number} query
 * @param {number} count of unmasked keys
 */
export function keysText(say, sink, query, count) {
  if (!sink) return say("inside_keys", { count });
  return say("inside_keys_and_sink", { count, sink: shortWeight(sink[query]) });
}
