import { reachOf } from "./contributions.js";
import { element } from "./element.js";
import { SHOWN_MAPS } from "./look.js";
import { createSmallSelect } from "./smallSelect.js";
import { shownMethod } from "./stepState.js";
import { anyOf } from "./store.js";
import { offers } from "./traceQuestions.js";

/** @import { Part } from "./element.js" */
/** @import { Shows } from "./initialState.js" */
/** @import { TraceContext } from "./traceContext.js" */

const GROUPS = [
  {
    label: "shown_attention",
    names: ["weight", ...SHOWN_MAPS.filter((one) => reachOf(one) === "all")],
  },
  { label: "shown_tokens", names: SHOWN_MAPS.filter((one) => reachOf(one) !== "all") },
];

/**
 * Before the colour bar: what the colours of the large map show. A choice where the server has what
 * keys contribute, and else a word.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createShownChoice(context) {
  const { say } = context;
  const word = element("span", { class: "bar-name", title: say("weight_title") }, say("weight"));
  const choice = createSmallSelect(context, { names: GROUPS, label: "shown" }, (name) => {
    choice.check(shownMethod(context) ?? "weight"); // until it is loaded
    context.act.select({ shows: /** @type {Shows} */ (name), hover: null });
  });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "trace", "head", "shows", "site", "more")) return;
    const asked = context.state.more || shownMethod(context) !== null;
    const offered = asked && offers(context, "contributions");
    choice.element.hidden = !offered;
    word.hidden = offered;
    choice.check(shownMethod(context) ?? "weight");
  };
  return { element: element("span", {}, word, choice.element), update };
}

/**
 * Show what keys contribute where the view of a trace says so, as soon as it is loaded; until then
 * and without a server the weights stay.
 * @param {TraceContext} context
 */
export function followShown(context) {
  const { view } = context.pieces.header;
  if (!view.shows || !offers(context, "contributions")) return;
  context.act.select({ shows: view.shows });
}
