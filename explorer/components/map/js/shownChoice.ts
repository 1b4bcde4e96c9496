import { element, type Part } from "../../dom/js/element.ts";
import { createSmallSelect } from "../../dom/js/smallSelect.ts";
import { markTerm } from "../../dom/js/terms.ts";
import { reachOf } from "../../trace/js/contributions.ts";
import type { Shows } from "../../trace/js/initialState.ts";
import { SHOWN_MAPS } from "../../trace/js/look.ts";
import { isSimple, shownMethod } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offers, offersMethod } from "../../trace/js/traceQuestions.ts";

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
 */
export function createShownChoice(context: TraceContext): Part {
  const { say } = context;
  const word = element("span", { class: "bar-name" }, say("weight"));
  markTerm(word, "weight");
  const choice = createSmallSelect(context, { names: GROUPS, label: "shown" }, (name) => {
    choice.check(shownMethod(context) ?? "weight"); // until it is loaded
    context.act.select({ shows: name as Shows, hover: null });
  });
  const draw = () => {
    const asked = !isSimple(context) || shownMethod(context) !== null;
    const offered = asked && offers(context, "contributions");
    choice.element.hidden = !offered;
    word.hidden = offered;
    choice.offer((name) => name === "weight" || offersMethod(context, name));
    choice.check(shownMethod(context) ?? "weight");
  };
  return { element: element("span", {}, word, choice.element), views: [draw] };
}

/**
 * Show what keys contribute where the view of a trace says so, as soon as it is loaded; until then
 * and without a server the weights stay.
 */
export function followShown(context: TraceContext) {
  const { view } = context.pieces.header;
  if (!view.shows || !offersMethod(context, view.shows)) return;
  context.act.select({ shows: view.shows });
}
