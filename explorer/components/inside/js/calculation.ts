import { element, write } from "../../dom/js/element.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { isolated } from "../../dom/js/sentences.ts";
import { writeWithTerm } from "../../dom/js/terms.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { labelOf } from "../../trace/js/label.ts";
import { isAsked, shownKeys, siteOf } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type CellArithmetic, cellArithmetic, type HeadVectors } from "./arithmetic.ts";
import { type Bar, createBars } from "./bars.ts";
import { cellTexts, maskedKeys, STEPS, type StepName } from "./cellTexts.ts";
import { createCurrentRow } from "./currentRow.ts";
import { decimal, subscript } from "./printedNumbers.ts";
import { createScoreColumns, type KeyColumn, MOST_COLUMNS } from "./scoreColumns.ts";

const NARROWEST = 110; // px of the bars of a vector
const WIDEST = 190;
const TEXTS = 660; // px that the steps without bars and all margins take
const CHARTS = 5; // a row of weights counts for two

/** The calculation of one cell from left to right: product, scale, mask, softmax, value, output. */
export function createCalculation(context: TraceContext) {
  const { say } = context;
  const charts = {
    product: createBars("inside-products"),
    softmax: createBars("inside-bars"),
    value: createBars("inside-part"),
    output: createBars("inside-outputs"),
  };
  const columns = createScoreColumns(context);
  const notes = {
    scaled: element("p", { class: "what-for", testid: "inside-scaled-note" }),
    mask: element("p", { class: "what-for", testid: "inside-mask-note" }),
  };
  const pictures: Record<StepName, HTMLElement> = {
    product: charts.product.element,
    softmax: element("div", { testid: "inside-weights" }, charts.softmax.element, columns.element),
    value: charts.value.element,
    output: charts.output.element,
    ...notes,
  };
  const numbers = Object.fromEntries(
    STEPS.map((name) => [name, element("p", { class: "number", testid: `inside-${name}` })]),
  );
  const steps = STEPS.map((name) => {
    const title = element("h3");
    writeWithTerm(title, say(`inside_${name}`), `term_${name}`, say); // some are technical words
    const attributes = { class: `inside-step ${name}`, title: say(`inside_${name}_title`) };
    return element("li", attributes, title, pictures[name], numbers[name]);
  });
  const sentence = element("p", {
    class: "inside-sentence",
    "aria-live": "polite",
    testid: "inside-sentence",
  });
  const row = createCurrentRow(context);
  const node = element(
    "div",
    {},
    element("div", { class: "inside-cell row wrap" }, row.element, sentence),
    element("ol", { class: "inside-steps" }, ...steps),
  );
  pictures.softmax.addEventListener("click", (event) => chooseKey(context, event));
  const draw = (head: HeadVectors, cell: Cell) => {
    const masked = maskedKeys(context, cell.query);
    const found = cellArithmetic(head, masked, cell.query, cell.key);
    const [q, k] = [`q${subscript(cell.query + 1)}`, `k${subscript(cell.key + 1)}`];
    const weight = found.weights[cell.key];
    row.draw(found.weights, masked, cell);
    const share = (context.width() - TEXTS) / CHARTS;
    const width = Math.max(NARROWEST, Math.min(share, WIDEST));
    charts.product.draw(componentBars(found.products, `${q}·${k}`), width);
    const bars = rowBars(context, found, masked, cell);
    const many = bars.length > MOST_COLUMNS || context.state.projector; // large type has no room
    charts.softmax.element.hidden = !many;
    columns.element.hidden = many;
    if (many) charts.softmax.draw(bars, 1.5 * width);
    else columns.draw(found, masked, cell, keyColumns(context, bars));
    const part = found.value.map((value) => weight * value);
    const vector = `v${subscript(cell.key + 1)}`;
    charts.value.draw(componentBars(part, vector), width, found.span); // one scale for all keys
    charts.output.draw(componentBars(found.output, "z"), width);
    const texts = cellTexts(context, head, found, masked, cell);
    write(notes.scaled, texts.notes.scaled);
    write(notes.mask, texts.notes.mask);
    write(sentence, texts.sentence);
    for (const name of STEPS) write(numbers[name], texts.numbers[name]);
  };
  return { element: node, draw };
}

/** Bars of the components of a vector. */
function componentBars(numbers: number[], name: string): Bar[] {
  return numbers.map((value, index) => ({
    value,
    title: `${name} [${index + 1}] = ${decimal(value)}`,
  }));
}

/** Bars of the weights of the row. */
function rowBars(
  context: TraceContext,
  { weights, scores }: CellArithmetic,
  masked: ArrayLike<number>,
  cell: Cell,
): Bar[] {
  const { keyTokens } = siteOf(context);
  const named = keyTokens.slice(0, shownKeys(context)); // later tokens may be guessed
  return weights.map((value, key) => ({
    value,
    title: barTitle(context, cell, { key, token: named[key] ?? "·", score: scores[key], value }),
    chosen: key === cell.key,
    masked: masked[key] !== 0,
  }));
}

/** The keys of the row as columns. */
function keyColumns(context: TraceContext, bars: Bar[]): KeyColumn[] {
  const named = siteOf(context).keyTokens.slice(0, shownKeys(context)); // as above
  return bars.map(({ title, chosen = false }, key) => {
    const token = named[key] === undefined ? "·" : labelOf(named[key]);
    return { token, title, chosen };
  });
}

/** The hover text of the weight of a key. */
function barTitle(
  context: TraceContext,
  { query }: Cell,
  { key, token, score, value }: { key: number; token: string; score: number; value: number },
) {
  const weight = isAsked(context, "weight", { query, key }) ? ASKED : shortWeight(value);
  const asksScore = isAsked(context, "score", { query, key });
  return `${key + 1} ${isolated(labelOf(token))}: ${asksScore ? ASKED : decimal(score)} → ${weight}`;
}

/** Show the key whose bar was clicked. */
function chooseKey(context: TraceContext, event: MouseEvent) {
  const { inside } = context.state;
  const bar = event.target instanceof Element ? event.target.closest(".component") : null;
  if (!inside || !bar?.parentNode) return;
  const key = [...bar.parentNode.children].indexOf(bar);
  context.set({ inside: { query: inside.query, key } });
}
