/** Of Edit: tokens that are drawn at random, at a temperature and of the most probable ones. */

import { buttonElement, element, type Part } from "../../dom/js/element.ts";
import { type Drawing, drawingIn } from "../../trace/js/drawing.ts";
import { apply } from "../../trace/js/editing.ts";
import { VERBS } from "../../trace/js/look.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { lineOf, readIntervention } from "../../trace/js/verbs.ts";

const { seed: SEEDS, k: TOP_K } = VERBS.draw;

const TEMPERATURES = ["0.5", "0.8", "1", "1.5"]; // offered

/** Of top-k and top-p; any number between can be typed. */
const STEPS = {
  k: { min: TOP_K.least, max: TOP_K.most, step: 1 },
  p: { min: 0.05, max: 1, step: 0.05 },
};

/**
 * Of the first press: with it the first examples of the shipped models go on with likely tokens, where
 * by 1 the one for English says one of probability 2e-6.
 */
const FIRST_SEED = 2;

/** What a person chose, as words of a line; without a k or a p, no restriction. */
type Chosen = Record<"temperature" | "k" | "p", string>;

/** The line of a drawing; null where a word is beyond its range. */
export function chosenDrawing(seed: number, { temperature, k, p }: Chosen) {
  const restrictions = [k && `k=${k}`, p && `p=${p}`].filter(Boolean);
  const drawing = readIntervention(["draw", temperature, seed, ...restrictions].join(" "));
  return drawing && lineOf(drawing);
}

/** The seed of the next drawing: wrapping around, or the first one. */
export function nextSeed(before: Drawing | null) {
  return before ? (before.seed % SEEDS.most) + 1 : FIRST_SEED;
}

/**
 * Draws the tokens at random, with another seed at each press, and anew with the same one when another
 * temperature, k or p is chosen. Greedy decoding comes back by undo.
 */
export function drawTokens(context: TraceContext): Part {
  const { say } = context;
  const inForce = () => drawingIn(context.pieces.header.facts);
  const drawBy = (seed: number) => {
    const line = chosenDrawing(seed, fields.chosen());
    apply(context, line === null ? "draw_refused" : { add: [line], remove: [] });
  };
  const fields = createFields(context, () => {
    const before = inForce();
    if (before) drawBy(before.seed);
  });
  const button = buttonElement(
    () => drawBy(nextSeed(inForce())),
    { testid: "try-draw", title: say("try_draw_title") },
    say("try_draw"),
  );
  const node = element("span", { class: "draw-tokens" }, button, ...fields.elements);
  let shown: Trace | null = null;
  const draw = () => {
    const { pieces } = context;
    node.hidden = !pieces.header.target.length;
    const drawing = inForce();
    if (!drawing || pieces === shown) return;
    shown = pieces; // until another one comes, the choice of the person stays
    fields.show(drawing);
  };
  return { element: node, views: [draw] };
}

/** The temperature, and top-k and top-p, which are off while their fields are empty. */
function createFields({ say }: TraceContext, choose: () => void) {
  const temperature = element(
    "select",
    {
      class: "small-select field",
      testid: "draw-temperature",
      "aria-label": say("draw_temperature"),
      on: { change: choose },
    },
    ...TEMPERATURES.map(temperatureOption),
  );
  temperature.value = TEMPERATURES[1];
  const field = (name: "k" | "p") => {
    const names = { class: "field", testid: `draw-${name}`, placeholder: say("draw_all") };
    return element("input", { type: "number", ...STEPS[name], ...names, on: { change: choose } });
  };
  const tops = { k: field("k"), p: field("p") };
  const labels = (["k", "p"] as const).map((name) => {
    const title = say(`draw_${name}_title`, { most: TOP_K.most });
    return element("label", { class: "draw-top row", title }, `top-${name}`, tops[name]);
  });
  return {
    elements: [temperature, ...labels],
    chosen: () => ({ temperature: temperature.value, k: typed(tops.k), p: typed(tops.p) }),
    show: (drawing: Drawing) => {
      const value = String(drawing.temperature);
      const offered = [...temperature.options].some((option) => option.value === value);
      if (!offered) temperature.append(temperatureOption(value));
      temperature.value = value;
      for (const name of ["k", "p"] as const) tops[name].value = String(drawing[name] ?? "");
    },
  };
}

/** What stands in a field; a browser gives nothing for what is no number. */
function typed({ value, validity }: HTMLInputElement) {
  return validity.badInput ? "?" : value;
}

function temperatureOption(value: string) {
  return element("option", { value }, `T ${value}`);
}
