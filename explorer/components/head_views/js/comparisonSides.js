import { element } from "../../shared/js/element.js";
import { tokenElement } from "../../shared/js/label.js";
import { createMap } from "../../shared/js/map.js";
import { createViewContext } from "./viewFrame.js";

/** @import { DrawnPart, Part } from "../../shared/js/element.js" */
/** @import { MapPart } from "../../shared/js/map.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */

/** @typedef {{context: TraceContext, map: MapPart, parts: DrawnPart[]}} Side */

export const MAPS_BESIDE = 820; // px that three maps need
export const RAIL_BESIDE = 1100; // px that they need with the heads beside them

/**
 * One of two traces and its map. A click on a cell is reported to the app, for an edit there.
 * @param {ViewFrame} frame
 * @param {Trace} trace
 * @param {Listeners} listeners
 * @returns {Side}
 */
export function createSide(frame, trace, listeners) {
  /** @type {Side["parts"]} */
  const parts = [];
  const context = createViewContext(frame, trace, listeners, parts);
  const map = createMap(context, {
    onCell: ({ query, key }) => {
      const { site, layer, head } = context.state;
      context.options.onCell?.({ site, layer, head, query, key });
    },
  });
  return { context, map, parts };
}

/**
 * A map under its heading.
 * @param {string} name
 * @param {string} heading
 * @param {Part} part
 */
export function comparisonColumn(name, heading, part) {
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
 * @param {() => string[]} names of the two
 * @param {() => [string[], string[]]} read their tokens
 * @returns {Part}
 */
export function createOutputs(names, read) {
  const node = element("div", { class: "comparison-outputs", testid: "comparison-outputs" });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!changed.has("trace")) return;
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
  return { element: node, update };
}

/**
 * The tokens of one step in both outputs; nothing beyond an output's end.
 * @param {string | undefined} before
 * @param {string | undefined} after
 */
function outputPair(before, after) {
  const differs = before === after ? "" : "differs";
  /** @type {(name: string, token: string | undefined) => HTMLElement} */
  const half = (name, token) =>
    token === undefined
      ? element("span", { class: "absent" }, "\u00a0")
      : tokenElement(token, { class: `${name} ${differs}` });
  return element("div", { class: "pair" }, half("without", before), half("with", after));
}
