import { type DrawnPart, element, type Part } from "../../dom/js/element.ts";
import { explainTerms } from "../../dom/js/terms.ts";
import { createIntegrity } from "../../map/js/integrity.ts";
import { createMap, type MapPart } from "../../map/js/map.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { createTransport } from "../../map/js/transport.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { tokenElement } from "../../trace/js/label.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { shareScale } from "./comparison.ts";
import {
  closeContext,
  createViewContext,
  createViewFrame,
  drawView,
  type Listeners,
  showTrace,
  type ViewFrame,
  watchFrame,
} from "./viewFrame.ts";
import type { ViewPayload } from "./viewPayload.ts";

/** A trace of a comparison, its map, and the parts that are drawn with it. */
export type Side = { context: TraceContext; map: MapPart; parts: DrawnPart[] };

/** Two traces on one colour scale, whose maps have equal rectangles. */
export interface Comparison {
  frame: ViewFrame;
  original: Side;
  changed: Side;
}

const MAPS_BESIDE = 820; // px that three maps need
const RAIL_BESIDE = 1100; // px that they need with the heads beside them

export function createComparison(
  parent: HTMLElement | ShadowRoot,
  payload: ViewPayload,
  listeners: Listeners,
): Comparison {
  const frame = createViewFrame(parent, payload);
  explainTerms(frame.root, frame.sayOfPlayer, frame.signal);
  const original = createSide(frame, payload.trace("original"), listeners);
  const changed = createSide(frame, payload.trace("changed"), listeners);
  original.context.beside = [changed.context];
  changed.context.beside = [original.context];
  shareScale(original.context.trace, changed.context.trace);
  return { frame, original, changed };
}

/** One of two traces and its map. */
function createSide(frame: ViewFrame, trace: Trace, listeners: Listeners): Side {
  const parts: Side["parts"] = [];
  const context = createViewContext(frame, trace, listeners);
  const map = createMap(context);
  return { context, map, parts };
}

/**
 * Put every part in its place, and add it to those that are drawn with its trace.
 * @param given.headings of the two maps and of the difference
 * @param given.tools after the outputs
 * @param given.below the maps
 */
export function placeComparison(
  { frame, original, changed }: Comparison,
  given: {
    rail: Part;
    outputs: Part;
    difference: Part;
    headings: [string, string, string];
    tools?: HTMLElement[];
    below?: Part[];
  },
) {
  const { rail, outputs, difference, headings, tools = [], below = [] } = given;
  const site = createSiteChoice(original.context);
  const transport = createTransport(original.context);
  const integrity = createIntegrity(changed.context);
  const tooltips = [createTooltip(original.context), createTooltip(changed.context)];
  rail.element.prepend(site.element);
  const columns = [
    comparisonColumn("original", headings[0], original.map),
    comparisonColumn("changed", headings[1], changed.map),
    comparisonColumn("difference", headings[2], difference),
  ];
  frame.root.append(
    element("div", { class: "comparison-top" }, transport.element, outputs.element, ...tools),
    element("div", { class: "comparison-body" }, rail.element, ...columns),
    ...[integrity, ...below, ...tooltips].map((part) => part.element),
  );
  original.parts.push(site, rail, original.map, difference, outputs, ...below);
  original.parts.push(tooltips[0], transport);
  changed.parts.push(changed.map, integrity, tooltips[1]);
}

/** Draw both traces, and follow what Streamlit and the visitor do. */
export function showComparison({
  frame,
  original,
  changed,
}: Comparison): View<ViewPayload, Listeners> {
  const sides = [original, changed];
  for (const { context, map, parts } of sides) {
    drawView(frame, context, parts);
    map.start();
  }
  const measure = () => {
    for (const { context } of sides) context.screen.measure();
  };
  watchFrame(frame, measure, MAPS_BESIDE, RAIL_BESIDE);
  listenToKeys(original.context);
  return {
    listen: (next) => {
      for (const { context } of sides) Object.assign(context.options, next);
    },
    update: (next) => {
      frame.give({ payload: next });
      showTrace(original.context, next.trace("original"));
      showTrace(changed.context, next.trace("changed"));
      shareScale(original.context.trace, changed.context.trace); // drawn with the next frame
    },
    destroy: () => {
      for (const { context, map } of sides) {
        closeContext(context);
        map.destroy();
      }
      frame.destroy();
    },
  };
}

/** A map under its heading. */
function comparisonColumn(name: string, heading: string, part: Part) {
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
  const half = (name: string, token: string | undefined) =>
    token === undefined
      ? element("span", { class: "absent" }, "\u00a0")
      : tokenElement(token, { class: `${name} ${differs}` });
  return element("div", { class: "pair" }, half("without", before), half("with", after));
}
