import { element } from "./element.js";
import { createSmallSelect } from "./smallSelect.js";
import { anyOf } from "./store.js";
import { CONTRIBUTION } from "./trace.js";

/** @import { Part } from "./element.js" */
/** @import { TraceContext } from "./traceContext.js" */

const CHOICES = ["weight", "contribution"];

/**
 * Before the colour bar: what the colours of the large map show. A choice where the server has what
 * keys contribute, and else a word.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createShownChoice(context) {
  const { say } = context;
  const word = element("span", { class: "bar-name", title: say("weight_title") }, say("weight"));
  let head = 0; // the one before contributions were chosen
  const choice = createSmallSelect(context, { names: CHOICES, label: "shown" }, (name) => {
    choice.check(shownBy(context)); // until it is loaded
    context.act.select({ head: name === "contribution" ? CONTRIBUTION : head, hover: null });
  });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "trace", "head", "site")) return;
    if (context.state.head !== CONTRIBUTION) head = context.state.head;
    const offered = context.pieces.header.contributions !== undefined;
    choice.element.hidden = !offered;
    word.hidden = offered;
    choice.check(shownBy(context));
  };
  return { element: element("span", {}, word, choice.element), update };
}

/** @param {TraceContext} context */
function shownBy({ state }) {
  return state.head === CONTRIBUTION ? "contribution" : "weight";
}

/**
 * Show what keys contribute where the view of a trace says so, as soon as it is loaded; until then
 * and without a server the weights stay.
 * @param {TraceContext} context
 */
export function followShown(context) {
  const { view, contributions } = context.pieces.header;
  if (view.shows !== "contribution" || contributions === undefined) return;
  context.act.select({ head: CONTRIBUTION });
}
