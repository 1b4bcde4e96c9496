import { assign, buttonElement, element, populate, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { signed, summands } from "../../dom/js/numbers.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { createSignedBars, type SignedBar } from "../../figure/js/signedBars.ts";
import { colourAt, css, inkOn, type Palette, signedRamp } from "../../page/js/palette.ts";
import { tokenHidden } from "../../trace/js/guess.ts";
import { labelOf } from "../../trace/js/label.ts";
import { chosenAt, currentRow, headName, type TraceOnScreen } from "../../trace/js/stepState.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type Find, offers, Refusal } from "../../trace/js/traceQuestions.ts";
import { type Attribution, type HeadParts, SITES, type StepParts } from "./attribution.ts";

export type FindAttribution = Find<Attribution>;

const WORDS = ["head_parts", "head_parts_rest", "head_parts_ignored"];
const GIVING_WAY = ["bars", "note", "sentence"]; // the first one first; of the bars numbers are left

/** Whether the server can say which heads made the model choose a token; a saved page cannot. */
export function offersHeadParts(context: TraceContext) {
  return offers(context, "attribution");
}

/**
 * Whether the parts of heads stand in place of the probabilities: not before the token is known,
 * and not while a lesson asks.
 */
export function showsHeadParts(context: TraceContext) {
  const row = currentRow(context);
  if (context.state.nextView !== "heads" || !offersHeadParts(context)) return false;
  return row >= 0 && !tokenHidden(context, row) && context.asked.answer === "";
}

/**
 * Leave out beside the heads what the column has no space for: no head is cut. Where that is not
 * enough, all but the bars stays and the column scrolls; a projector, before which nobody scrolls,
 * rather goes without their numbers, too.
 */
export function fitHeadParts(context: TraceContext, column: HTMLElement) {
  const fitted = showsHeadParts(context) && !context.narrow();
  const { projector } = context.state;
  const order = projector ? [...GIVING_WAY, "numbers"] : GIVING_WAY;
  const cut = () => column.scrollHeight > column.clientHeight;
  delete column.dataset.without;
  delete column.dataset.scrolls;
  for (let count = 1; fitted && count <= order.length && cut(); count += 1) {
    column.dataset.without = order.slice(0, count).join(" ");
  }
  if (!fitted || projector || !cut()) return;
  column.dataset.without = GIVING_WAY[0];
  column.dataset.scrolls = "";
}

/**
 * What each head adds to the choice of the next token and not of the runner-up: a sentence, every
 * head by layer, and bars of all that adds up.
 */
export function createHeadParts(context: TraceContext, find: FindAttribution) {
  const { say } = context;
  const sentence = element("p", { class: "parts-sentence", testid: "parts-sentence" });
  const words = createExplanation(
    "parts-words",
    { label: say("legend_words"), close: say("words_close") },
    () => WORDS.map((name) => wordEntry(name, say)),
  );
  const tables = Object.fromEntries(SITES.map((site) => [site, createHeadTable(context, site)]));
  const names = element("div", { class: "parts-cells parts-names", "aria-hidden": "true" });
  const heads = element(
    "div",
    { class: "parts-heads" },
    names,
    ...SITES.map((site) => tables[site].element),
  );
  followArrows(heads, () => buttonsIn(heads));
  const bars = createSignedBars("parts-bars");
  const shown = element(
    "div",
    {},
    element("div", { class: "parts-head" }, sentence, words.element),
    heads,
    bars.element,
  );
  const node = element("div", { class: "head-parts", testid: "head-parts" }, shown);
  const drawFound = (found: Attribution, row: number) => {
    const step = stepParts(context, found);
    const facts = factsOf(context, step, row);
    write(sentence, say("parts_sentence", facts));
    const widest = Math.max(...step.attentions.map((one) => one.heads));
    heads.style.setProperty("--heads", String(widest));
    populate(names, widest, (head) => element("span", {}, `H${head}`));
    for (const site of SITES) {
      const parts = step.attentions.find((one) => one.site === site);
      tables[site].element.hidden = !parts;
      if (parts) tables[site].draw(parts, found.largestHead);
    }
    markSelected(context, heads);
    bars.draw(context.palette, barsOf(say, step), found.largest);
    const forced = step.difference < 0 ? [say("parts_forced", facts)] : [];
    return [...forced, say("parts_note", facts)].join(" ");
  };
  /** @returns the note below the parts at the current step */
  const draw = (): string => {
    const found = find("");
    const refused = found instanceof Refusal;
    shown.hidden = refused || typeof found === "string";
    if (refused) return found.message;
    if (typeof found === "string") return say(`parts_${found}`);
    return drawFound(found, currentRow(context));
  };
  return { element: node, draw };
}

/** The parts at the current step; of a word those of its last piece. */
export function stepParts(context: TraceOnScreen, found: Attribution) {
  const row = currentRow(context);
  return found.of(context.trace.rows?.[row] ?? row);
}

/** The numbers and tokens of the sentences. */
export function factsOf({ trace }: TraceContext, step: StepParts, row: number) {
  const [heads, rest] = summands([step.heads, step.rest], step.difference);
  return {
    token: labelOf(chosenAt(trace, row)?.token ?? ""),
    other: labelOf(step.runnerUp),
    difference: signed(step.difference),
    heads,
    rest,
  };
}

/** The heads of one attention, a row for each layer; a click on one selects it. */
function createHeadTable(context: TraceContext, site: SiteName) {
  const { say } = context;
  const name = element("span", { class: "parts-site" }, say(`site_${site}`));
  const rows = element("div", { class: "parts-layers" });
  const node = element("div", { class: "parts-of-site", testid: `parts-${site}` }, name, rows);
  const draw = ({ heads, values }: HeadParts, largest: number) => {
    const layers = populate(rows, values.length / heads, layerRow);
    layers.forEach((line, layer) => {
      const [label, cells] = [...line.children] as HTMLElement[];
      write(label, `L${layer}`);
      const buttons = populate(cells, heads, (head) => cellButton(context, site, layer, head));
      buttons.forEach((button, head) => {
        drawCell(context, button, values[layer * heads + head], largest);
        const name = `${say(`site_${site}`)} · ${headName(layer, head)}`;
        const title = say("parts_head", {
          head: name,
          value: signed(values[layer * heads + head], 3),
        });
        for (const attribute of ["title", "aria-label"]) assign(button, attribute, title);
      });
    });
  };
  return { element: node, draw };
}

function layerRow() {
  const cells = element("div", { class: "parts-cells" });
  return element("div", { class: "parts-layer" }, element("span", { class: "layer-name" }), cells);
}

function cellButton({ act }: TraceContext, site: SiteName, layer: number, head: number) {
  return buttonElement(
    () => act.select({ site, layer, head, hover: null }),
    { "data-part": `${site}/${layer}/${head}`, testid: `part-${site}-${layer}-${head}` },
    element("span", {}),
  );
}

/** Green for what speaks for the chosen token, purple for what speaks against it. */
function drawCell({ palette }: TraceContext, button: HTMLElement, value: number, largest: number) {
  const colour = signedColour(palette, value, largest);
  button.style.background = css(colour);
  button.style.color = inkOn(colour);
  write(button.firstElementChild as Node, shortPart(value));
}

/** The part of a head in a cell: two digits. */
export function shortPart(value: number) {
  return signed(value, Math.abs(value) < 9.95 ? 1 : 0)
    .replace("0.", ".")
    .replace(/^\.0$/, "0");
}

export function signedColour(palette: Palette, value: number, largest: number) {
  return colourAt(signedRamp(palette), largest ? (value / largest + 1) / 2 : 0.5);
}

/** Bars that add up to the difference, and the difference. */
export function barsOf(
  say: TraceContext["say"],
  { attentions, others, difference }: StepParts,
): SignedBar[] {
  const parts = [...attentions.map(({ site, total }) => ({ name: site, value: total })), ...others];
  const values = parts.map(({ value }) => value);
  const numbers = summands(values, difference);
  const sum = { name: "difference", value: difference, number: signed(difference), sum: true };
  const bars = [...parts.map((part, index) => ({ ...part, number: numbers[index] })), sum];
  return bars.map(({ name, ...bar }) => ({
    label: say(`parts_${name}`),
    title: say(`parts_${name}_title`),
    ...bar,
  }));
}

/** Ring the selected head, which is the only stop of the Tab key; the first one where none is. */
function markSelected({ state }: TraceContext, heads: HTMLElement) {
  const selected = `${state.site}/${state.layer}/${state.head}`;
  const buttons = buttonsIn(heads);
  for (const button of buttons)
    assign(button, "aria-pressed", button.dataset.part === selected ? "true" : "false");
  markStop(
    buttons,
    buttons.find(({ dataset }) => dataset.part === selected),
  );
}

function buttonsIn(heads: HTMLElement): HTMLElement[] {
  return [...heads.querySelectorAll("[data-part]")].filter((node) => node instanceof HTMLElement);
}
