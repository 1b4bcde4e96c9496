import { assign, element, type Part, write } from "../../dom/js/element.ts";
import { drawingIn } from "../../trace/js/drawing.ts";
import { tokenHidden } from "../../trace/js/guess.ts";
import { currentRow } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { holds, isAnswer, offers } from "../../trace/js/traceQuestions.ts";
import { findPath, pathPlace } from "./tokenPath.ts";

const STEPS = { min: 0.1, max: 2, step: 0.1 };

/**
 * The slider by which the logits are divided before softmax, while the panel *Inside* is open.
 * @param isReplaced whether something else stands in the place of the probabilities
 */
export function createTemperature(context: TraceContext, isReplaced: () => boolean): Part {
  const { say } = context;
  const value = element("output", {});
  const slider = element("input", {
    type: "range",
    testid: "temperature",
    "aria-label": say("temperature"),
    ...STEPS,
    value: "1",
    on: { input: () => context.set({ temperature: Number(slider.value) }) },
  });
  const node = element("label", { class: "temperature" }, say("temperature"), slider, value);
  const draw = () => {
    node.hidden = isReplaced() || !isShown(context);
    const { temperature } = context.state;
    if (slider.value !== String(temperature)) slider.value = String(temperature);
    write(value, temperature.toFixed(1));
    assign(slider, "aria-valuetext", temperature.toFixed(1));
    const drawing = drawingIn(context.pieces.header.facts);
    const how = drawing ? "temperature_drawn_title" : "temperature_title";
    assign(node, "title", say(how, { temperature: drawing?.temperature ?? 1 }));
  };
  return { element: node, views: [draw] };
}

/** The temperature of the probabilities on screen. */
export function temperatureOnScreen(context: TraceContext) {
  return isShown(context) ? context.state.temperature : 1;
}

/**
 * The probability of a token of the current step at the temperature of the slider; that of the
 * model where there is none, or until the server has answered.
 */
export function atTemperature(context: TraceContext, probability: number) {
  const temperature = temperatureOnScreen(context);
  if (temperature === 1) return probability;
  const path = findPath(context, context.state.layer);
  if (!isAnswer(path)) return probability;
  const index = path.temperatures.findIndex((known) => Math.abs(known - temperature) < 1e-6);
  return probability ** (1 / temperature) / path.tempered(currentRow(context), index);
}

function isShown(context: TraceContext) {
  const { state, trace } = context;
  const row = currentRow(context);
  const known = offers(context, "path") && holds(context, "path", pathPlace(context));
  const asked = state.inside !== null && known && !trace.rows;
  return asked && state.site !== "encoder" && row >= 0 && !tokenHidden(context, row);
}
