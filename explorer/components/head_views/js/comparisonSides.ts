import { type DrawnPart, element, type Part } from "../../dom/js/element.ts";
import { createMap, type MapPart } from "../../map/js/map.ts";
import { tokenElement } from "../../trace/js/label.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createViewContext, type Listeners, type ViewFrame } from "./viewFrame.ts";

export type Side = { context: TraceContext; map: MapPart; parts: DrawnPart[] };

export const MAPS_BESIDE = 820; // px that three maps need
export const RAIL_BESIDE = 1100; // px that they need with the heads beside them

/** One of two traces and its map. A click on a cell is reported to the app, for an edit there. */
export function createSide(frame: ViewFrame, trace: Trace, listeners: Listeners): Side {
  const parts: Side["parts"] = [];
  const context = createViewContext(frame, trace, listeners);
  const map = createMap(context, {
    onCell: ({ query, key }) => {
      const { site, layer, head } = context.state;
      context.options.onCell?.({ site, layer, head, query, key });
    },
  });
  return { context, map, parts };
}

/** A map under its heading. */
export function comparisonColumn(name: string, heading: string, part: Part) {
  return element(
    "section",
    { class: "comparison-side", testid: `comparison-${name}` },
    element("h2", { title: heading }, heading),
    part.element,
  );
}

/**
 * Two outputs, each token above the one at the same step, so that wrapped lines stay aligned;
 * differences underlined.
 * @param names of the two
 * @param read their tokens
 */
export function createOutputs(names: () => string[], read: () => [string[], string[]]): Part {
  const node = element("div", { class: "comparison-outputs", testid: "comparison-outputs" });
  const draw = () => {
    const [before, after] = read();
    const longer = before.length > after.length ? before : after;
    node.hidden = longer.length === 0; // an encoder alone without mask tokens says nothing
    node.replaceChildren(
      element(
        "div",
        { class: "pair output-name" },
        ...names().map((name) => element("span", {}, name)),
      ),
      ...longer.map((_, step) => outputPair(before[step], after[step])),
    );
  };
  return { element: node, views: [draw] };
}

/** The tokens of one step in both outputs; nothing beyond an output's end. */
function outputPair(before: string | undefined, after: string | undefined) {
  const differs = before === after ? "" : "differs";
  const half: (name: string, token: string | undefined) => HTMLElement = (name, token) =>
    token === undefined
      ? element("span", { class: "absent" }, "\u00a0")
      : tokenElement(token, { class: `${name} ${differs}` });
  return element("div", { class: "pair" }, half("without", before), half("with", after));
}
