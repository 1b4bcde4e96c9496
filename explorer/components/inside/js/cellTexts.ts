import { shortWeight } from "../../dom/js/numbers.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { labelOf } from "../../trace/js/label.ts";
import { isAsked, mapTitle, siteOf } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { CellArithmetic, HeadVectors } from "./arithmetic.ts";
import { type CellNumbers, type PrintedScaling, printCell, printMasked } from "./equationDigits.ts";
import { type Printed, printed, printedPower, printedWeight, subscript } from "./printedNumbers.ts";

const PART_DIGITS = [0, 1, 2, 3]; // beyond the usual ones
const ROOT_DIGITS = 4; // of a root that is no whole number

export type StepName = "product" | "scaled" | "mask" | "softmax" | "value" | "output";

/** What stands beside the pictures of a calculation. */
export interface CellTexts {
  sentence: string; // the calculation in one line
  numbers: Record<StepName, string>;
  notes: Record<"scaled" | "mask", string>;
}

export const STEPS: StepName[] = ["product", "scaled", "mask", "softmax", "value", "output"];

/** The cell of a calculation: head, query and key. */
export function cellTitle(context: TraceContext, { query, key }: Cell) {
  const site = siteOf(context);
  return context.say("inside_heading", {
    head: mapTitle(context),
    query: query + 1,
    query_token: labelOf(site.queryTokens[query]),
    key: key + 1,
    key_token: labelOf(site.keyTokens[key]),
  });
}

/** The mask codes of the keys of a query in the selected head. */
export function maskedKeys(context: TraceContext, query: number) {
  const site = siteOf(context);
  const { layer, head } = context.state;
  return site.masked(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
}

/**
 * The texts of the calculation of a cell.
 * @param masked codes of the row
 */
export function cellTexts(
  context: TraceContext,
  head: HeadVectors,
  found: CellArithmetic,
  masked: Uint8Array,
  cell: Cell,
): CellTexts {
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

/** The sentence with the numbers of a step. */
function numberKey({ masked, sum }: CellArithmetic, name: StepName) {
  const masks = masked && (name === "mask" || name === "softmax");
  if (masks && name === "softmax" && !sum) return "inside_softmax_number_none";
  return `inside_${name}_number${masks ? "_masked" : ""}`;
}

/** @param masked codes of the row */
function factsOf(
  context: TraceContext,
  head: HeadVectors,
  found: CellArithmetic,
  masked: Uint8Array,
  cell: Cell,
): Record<string, string | number> {
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
    ...partFacts(found, found.weights[cell.key]),
  };
}

/** The length of weight × value, as the product of two numbers with as many digits as it takes. */
function partFacts({ length }: CellArithmetic, weight: number) {
  const part = printed(weight * length);
  const factors = PART_DIGITS.map((more) => [
    more ? printed(weight, more) : printedWeight(weight),
    printed(length, more),
  ]);
  const follows = ([share, long]: Printed[]) =>
    Math.abs(share.value * long.value - part.value) <= part.unit / 2;
  const [share, long] = factors.find(follows) ?? factors[0];
  const is_part = equals(follows([share, long]));
  return { share: share.text, length: long.text, is_part, part: part.text };
}

/** The numbers of a masked cell, and of the softmax without it. */
function maskedFacts(context: TraceContext, head: HeadVectors, numbers: CellNumbers) {
  const shown = scalingFacts(context, head, printMasked(numbers));
  return { ...shown, sum: printedPower(numbers.sum).text, weight: printedWeight(0).text };
}

/** The numbers of a cell that is not masked. */
function openFacts(context: TraceContext, head: HeadVectors, numbers: CellNumbers) {
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

function scalingFacts(
  context: TraceContext,
  head: HeadVectors,
  found: PrintedScaling & { score: Printed },
) {
  return {
    product: found.product.text,
    scaling: scalingText(context, head, found),
    is_score: equals(found.scoreFollows),
    score: found.score.text,
  };
}

/**
 * The sign between the two sides of an equation.
 * @param follows whether the right side is what the left side gives as it is printed
 */
function equals(follows: boolean) {
  return follows ? "=" : "≈";
}

/**
 * Why a key is masked.
 * @param reason as the trace names it
 */
function reasonText(say: TraceContext["say"], reason: string) {
  return say(`reason_${reason.replaceAll(" ", "_")}`);
}

/** By what a card asks of the cell, the facts that would tell it: the number, and what is computed with it. */
const TELLING = {
  product: ["product"],
  score: ["score", "exponent"],
  exponent: ["exponent"],
  power: ["power"],
  "sum of powers": ["sum"],
  weight: ["weight", "share"],
  part: ["part"],
} as Record<string, string[]>;

/** Put "?" in the place of what this or a later card of a lesson asks. */
function hideAsked(context: TraceContext, facts: Record<string, string | number>, cell: Cell) {
  for (const [answer, telling] of Object.entries(TELLING))
    if (isAsked(context, answer, cell)) for (const name of telling) facts[name] = ASKED;
}

/** What is done with the product: "÷ √32" or, with another scale, "× 0.0625"; then cap and bias. */
function scalingText(
  { say }: TraceContext,
  head: HeadVectors,
  { scale, cap, bias }: PrintedScaling,
) {
  const parts = [isUsual(head) ? `÷ √${head.width}` : `× ${scale}`];
  if (cap !== null) parts.push(say("inside_cap", { cap }));
  if (head.bias) parts.push(say("inside_bias", { bias: bias.text }));
  return parts.join(" ");
}

/** Whether products are divided by the root of their number, as in the paper. */
function isUsual({ scale, width }: HeadVectors) {
  return Math.abs(scale * Math.sqrt(width) - 1) < 1e-4;
}

/** What the scaling is for. */
function scalingNote({ say }: TraceContext, head: HeadVectors) {
  const root = Math.sqrt(head.width);
  const exact = Number.isInteger(root);
  const text = exact ? String(root) : root.toPrecision(ROOT_DIGITS);
  const facts = { width: head.width, is_root: equals(exact), root: text };
  return say(isUsual(head) ? "inside_scaled_note" : "inside_scaled_note_other", facts);
}

/**
 * What the mask does to the row, and why.
 * @param masked codes of the row
 */
function maskNote({ say, trace }: TraceContext, masked: Uint8Array) {
  const codes = [...new Set(masked)].filter(Boolean);
  if (!codes.length) return say("inside_mask_note_none");
  const { reasons } = trace.header;
  const names = codes.map((code) => reasonText(say, reasons[code]));
  const count = masked.reduce((sum, code) => sum + (code ? 1 : 0), 0);
  return say("inside_mask_note", { count, keys: masked.length, reasons: names.join(", ") });
}

/**
 * What the softmax is over: "9 unmasked keys", in some models with a sink and its weight.
 * @param count of unmasked keys
 */
export function keysText(
  say: TraceContext["say"],
  sink: HeadVectors["sink"],
  query: number,
  count: number,
) {
  if (!sink) return say("inside_keys", { count });
  return say("inside_keys_and_sink", { count, sink: shortWeight(sink[query]) });
}
