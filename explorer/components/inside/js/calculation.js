import { element, write } from "../../shared/js/element.js";
import { labelOf } from "../../shared/js/label.js";
import { ASKED, asking } from "../../shared/js/lessonEvents.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { isAsked, mapTitle, shownKeys, siteOf } from "../../shared/js/stepState.js";
import { cellArithmetic } from "./arithmetic.js";
import { createBars } from "./bars.js";
import { createCurrentRow } from "./currentRow.js";
import { decimal, power, subscript } from "./numbers.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { CellArithmetic, HeadVectors } from "./arithmetic.js" */
/** @import { Bar } from "./bars.js" */

const NARROWEST = 110; // px of the bars of a vector
const WIDEST = 190;
const TEXTS = 660; // px that the steps without bars and all margins take
const CHARTS = 5; // a row of weights counts for two

/**
 * @typedef {object} Calculation
 * @property {HTMLElement} element
 * @property {(cell: Cell) => string} title
 * @property {(head: HeadVectors, cell: Cell) => void} draw
 */

/**
 * The calculation of one cell from left to right: product, scale, mask, softmax, value, output.
 * @param {TraceContext} context
 * @returns {Calculation}
 */
export function createCalculation(context) {
  const { say } = context;
  const names = /** @type {const} */ (["product", "scaled", "mask", "softmax", "value", "output"]);
  const charts = {
    product: createBars("inside-products"),
    softmax: createBars("inside-weights"),
    value: createBars("inside-part"),
    output: createBars("inside-outputs"),
  };
  const notes = {
    scaled: element("p", { class: "what-for", testid: "inside-scaled-note" }),
    mask: element("p", { class: "what-for", testid: "inside-mask-note" }),
  };
  /** @type {Record<typeof names[number], HTMLElement>} */
  const pictures = {
    product: charts.product.element,
    softmax: charts.softmax.element,
    value: charts.value.element,
    output: charts.output.element,
    ...notes,
  };
  const numbers = Object.fromEntries(
    names.map((name) => [name, element("p", { class: "number", testid: `inside-${name}` })]),
  );
  const steps = names.map((name) =>
    element(
      "li",
      { class: `inside-step ${name}`, title: say(`inside_${name}_title`) },
      element("h3", {}, say(`inside_${name}`)),
      pictures[name],
      numbers[name],
    ),
  );
  const sentence = element("p", {
    class: "inside-sentence",
    "aria-live": "polite",
    testid: "inside-sentence",
  });
  const row = createCurrentRow(context);
  const node = element(
    "div",
    {},
    element("div", { class: "inside-cell" }, row.element, sentence),
    element("ol", { class: "inside-steps" }, ...steps),
  );
  charts.softmax.element.addEventListener("click", (event) => chooseKey(context, event));
  /** @type {Calculation["draw"]} */
  const draw = (head, cell) => {
    const site = siteOf(context);
    const { layer, head: number } = context.state;
    const start = cell.query * site.keys;
    const masked = site.masked(layer, number).subarray(start, start + site.keys);
    const found = cellArithmetic(head, masked, cell.query, cell.key);
    const [q, k] = [`q${subscript(cell.query + 1)}`, `k${subscript(cell.key + 1)}`];
    const weight = found.weights[cell.key];
    row.draw(found.weights, masked, cell);
    const share = (context.root.clientWidth - TEXTS) / CHARTS;
    const width = Math.max(NARROWEST, Math.min(share, WIDEST));
    charts.product.draw(componentBars(found.products, `${q}·${k}`), width);
    charts.softmax.draw(rowBars(context, found, masked, cell), 1.5 * width);
    const part = found.value.map((value) => weight * value);
    charts.value.draw(componentBars(part, `v${subscript(cell.key + 1)}`), width);
    charts.output.draw(componentBars(found.output, "z"), width);
    /** @type {Record<string, string | number>} */
    const facts = {
      query: subscript(cell.query + 1),
      key: subscript(cell.key + 1),
      product: decimal(found.product),
      scaling: scalingText(context, head, found),
      score: decimal(found.scores[cell.key]),
      exponent: exponentText(found, cell.key),
      reason: say(`reason_${context.trace.header.reasons[masked[cell.key]].replaceAll(" ", "_")}`),
      power: power(found.power),
      sum: power(found.sum),
      count: found.unmasked,
      keys: keysText(say, head.sink, cell.query, found.unmasked),
      weight: shortWeight(weight),
      count_products: found.products.length,
      width: found.value.length,
    };
    hideAsked(facts);
    write(notes.scaled, scalingNote(context, head));
    write(notes.mask, maskNote(context, masked));
    write(sentence, say(found.masked ? "inside_sentence_masked" : "inside_sentence", facts));
    for (const name of names) {
      const masks = found.masked && (name === "mask" || name === "softmax");
      write(numbers[name], say(`inside_${name}_number${masks ? "_masked" : ""}`, facts));
    }
  };
  /** @param {Cell} cell */
  const title = ({ query, key }) => {
    const site = siteOf(context);
    return say("inside_heading", {
      head: mapTitle(context),
      query: query + 1,
      query_token: labelOf(site.queryTokens[query]),
      key: key + 1,
      key_token: labelOf(site.keyTokens[key]),
    });
  };
  return { element: node, title, draw };
}

/** By what a card asks, the facts that would tell it: the number, and what is computed with it. */
const TELLING = /** @type {Record<string, string[]>} */ ({
  product: ["product"],
  score: ["score", "exponent"],
  weight: ["weight"],
});

/**
 * Put "?" in the place of what a card of a lesson asks.
 * @param {Record<string, string | number>} facts
 */
function hideAsked(facts) {
  for (const name of TELLING[asking()] ?? []) facts[name] = ASKED;
}

/**
 * Bars of the components of a vector.
 * @param {number[]} numbers
 * @param {string} name
 * @returns {Bar[]}
 */
function componentBars(numbers, name) {
  return numbers.map((value, index) => ({
    value,
    title: `${name} [${index + 1}] = ${decimal(value)}`,
  }));
}

/**
 * Bars of the weights of the row.
 * @param {TraceContext} context
 * @param {CellArithmetic} found
 * @param {ArrayLike<number>} masked
 * @param {Cell} cell
 * @returns {Bar[]}
 */
function rowBars(context, { weights, scores }, masked, cell) {
  const { keyTokens } = siteOf(context);
  const named = keyTokens.slice(0, shownKeys(context)); // later tokens may be guessed
  return weights.map((value, key) => ({
    value,
    title: barTitle(context, cell, { key, token: named[key] ?? "·", score: scores[key], value }),
    chosen: key === cell.key,
    masked: masked[key] !== 0,
  }));
}

/**
 * The hover text of the weight of a key.
 * @param {TraceContext} context
 * @param {Cell} cell
 * @param {{key: number, token: string, score: number, value: number}} bar
 */
function barTitle(context, cell, { key, token, score, value }) {
  const weight = isAsked(context, cell.query, key) ? ASKED : shortWeight(value);
  const asksScore = key === cell.key && TELLING[asking()]?.includes("score");
  return `${key + 1} ${labelOf(token)}: ${asksScore ? ASKED : decimal(score)} → ${weight}`;
}

/**
 * What is done with the product: "÷ √32" or, with another scale, "× 0.0625"; then cap and bias.
 * @param {TraceContext} context
 * @param {HeadVectors} head
 * @param {CellArithmetic} found
 */
function scalingText({ say }, head, found) {
  const { width, scale, cap, bias } = head;
  const parts = [isUsual(head) ? `÷ √${width}` : `× ${Number(scale.toPrecision(3))}`];
  if (cap !== null) parts.push(say("inside_cap", { cap }));
  if (bias) parts.push(say("inside_bias", { bias: decimal(found.bias) }));
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
  const facts = { width: head.width, root: decimal(Math.sqrt(head.width)) };
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
  const names = codes.map((code) => say(`reason_${reasons[code].replaceAll(" ", "_")}`));
  const count = masked.reduce((sum, code) => sum + (code ? 1 : 0), 0);
  return say("inside_mask_note", { count, keys: masked.length, reasons: names.join(", ") });
}

/**
 * To which power e is raised: the score or, where that is too large, less the largest of the row.
 * @param {CellArithmetic} found
 * @param {number} key
 */
export function exponentText({ scores, shift }, key) {
  const score = decimal(scores[key]);
  return shift ? `(${score} − ${decimal(shift).replace(/^−.*/, "($&)")})` : score;
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

/**
 * Show the key whose bar was clicked.
 * @param {TraceContext} context
 * @param {MouseEvent} event
 */
function chooseKey(context, event) {
  const { inside } = context.state;
  const bar = event.target instanceof Element ? event.target.closest(".component") : null;
  if (!inside || !bar?.parentNode) return;
  const key = [...bar.parentNode.children].indexOf(bar);
  context.set({ inside: { query: inside.query, key } });
}
