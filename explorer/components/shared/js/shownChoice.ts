import { reachOf } from "./contributions.ts";
import type { Part } from "./element.ts";
import { element } from "./element.ts";
import type { Shows } from "./initialState.ts";
import { SHOWN_MAPS } from "./look.ts";
import { createSmallSelect } from "./smallSelect.ts";
import { shownMethod } from "./stepState.ts";
import { anyOf } from "./store.ts";
import type { TraceContext } from "./traceContext.ts";
import { offers } from "./traceQuestions.ts";

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
  const word = element("span", { class: "bar-name", title: say("weight_title") }, say("weight"));
  const choice = createSmallSelect(context, { names: GROUPS, label: "shown" }, (name) => {
    choice.check(shownMethod(context) ?? "weight"); // until it is loaded
    context.act.select({ shows: name as Shows, hover: null });
  });
  const update = (changed: Set<string>) => {
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
 */
export function followShown(context: TraceContext) {
  const { view } = context.pieces.header;
  if (!view.shows || !offers(context, "contributions")) return;
  context.act.select({ shows: view.shows });
}
