import { element } from "../../shared/js/element.js";
import { createIntegrity } from "../../shared/js/integrity.js";
import { listenToKeys } from "../../shared/js/keyboard.js";
import { tokenElement } from "../../shared/js/label.js";
import { createMap } from "../../shared/js/map.js";
import { createRail } from "../../shared/js/rail.js";
import { createSelectionReport } from "../../shared/js/selectionReport.js";
import { createSiteChoice } from "../../shared/js/siteChoice.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { createTooltip } from "../../shared/js/tooltip.js";
import { drawAll } from "../../shared/js/traceContext.js";
import { createTransport } from "../../shared/js/transport.js";
import { shareScale, synchronise } from "./comparison.js";
import { viewListeners } from "./listeners.js";
import { createValueMap } from "./valueMap.js";
import {
  closeContext,
  createViewContext,
  createViewFrame,
  showTrace,
  watchFrame,
} from "./viewFrame.js";
import { readViewPayload } from "./viewPayload.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { MapPart } from "../../shared/js/map.js" */
/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */
/** @import { ViewPayload } from "./viewPayload.js" */

/** @typedef {{context: TraceContext, map: MapPart, parts: Pick<Part, "update">[]}} Side */

const MAPS_BESIDE = 820; // px that three maps need
const RAIL_BESIDE = 1100; // px that they need with the heads beside them
const LEAST_DIFFERENCE = 0.01; // of full colour: rounding errors are no finding

/** The comparison of two traces as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => `${payload.header.language} ${changedIsLonger(payload)}`,
  listeners: viewListeners,
  open: openComparison,
});

/**
 * Whether the changed output is the longer one, which then has the transport.
 * @param {ViewPayload} payload
 */
function changedIsLonger(payload) {
  return payload.trace("changed").steps > payload.trace("original").steps;
}

/**
 * A trace without and with interventions, their steps synchronised, and the difference.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @param {Listeners} listeners
 * @returns {View<ViewPayload, Listeners>}
 */
function openComparison(parent, payload, listeners) {
  const frame = createViewFrame(parent, payload);
  const original = createSide(frame, payload, "original", listeners);
  const changed = createSide(frame, payload, "changed", listeners);
  const sides = [original, changed];
  shareScale(original.context.trace, changed.context.trace);
  placeParts(frame, original, changed, changedIsLonger(payload) ? changed : original);
  const [follow, followBack] = synchronise(original.context, changed.context);
  original.parts.push({ update: follow }, { update: createSelectionReport(original.context) });
  changed.parts.push({ update: followBack });
  for (const { context, map } of sides) {
    drawAll(context);
    map.start();
  }
  const draw = () => {
    for (const { context } of sides) context.touch("size");
  };
  watchFrame(frame, draw, MAPS_BESIDE, RAIL_BESIDE);
  const { context: longer } = changedIsLonger(payload) ? changed : original;
  listenToKeys(longer, { p: () => longer.set({ projector: !longer.state.projector }) });
  return {
    listen: (next) => {
      for (const { context } of sides) Object.assign(context.options, next);
    },
    update: (next) => {
      frame.payload = next;
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

/**
 * One of the two traces and its map. A click on a cell is reported to the app, for an edit there.
 * @param {ViewFrame} frame
 * @param {ViewPayload} payload
 * @param {"original" | "changed"} name
 * @param {Listeners} listeners
 * @returns {Side}
 */
function createSide(frame, payload, name, listeners) {
  /** @type {Side["parts"]} */
  const parts = [];
  const context = createViewContext(frame, payload.trace(name), listeners, parts);
  const map = createMap(context, {
    onCell: ({ query, key }) => {
      const { site, layer, head } = context.state;
      context.options.onCell?.({ site, layer, head, query, key });
    },
  });
  return { context, map, parts };
}

/**
 * Make every part, put it in its place, and add it to those drawn with its trace.
 * @param {ViewFrame} frame
 * @param {Side} original
 * @param {Side} changed
 * @param {Side} longer
 */
function placeParts(frame, original, changed, longer) {
  const site = createSiteChoice(original.context);
  const rail = createRail(original.context, { without: () => changed.context.trace });
  const transport = createTransport(longer.context);
  const outputs = createOutputs(frame, original.context, changed.context);
  const difference = createValueMap(original.context, frame, {
    name: "difference",
    read: (which) => frame.payload.values("difference", which),
    signed: true,
    least: LEAST_DIFFERENCE,
  });
  const integrity = createIntegrity(changed.context);
  const tooltips = [createTooltip(original.context), createTooltip(changed.context)];
  rail.element.prepend(site.element);
  /** @type {(name: string, part: Part) => HTMLElement} */
  const column = (name, part) =>
    element(
      "section",
      { class: "comparison-side", testid: `comparison-${name}` },
      element("h2", {}, frame.say(`comparison_${name}`)),
      part.element,
    );
  const columns = [
    column("original", original.map),
    column("changed", changed.map),
    column("difference", difference),
  ];
  const top = element("div", { class: "comparison-top" }, transport.element, outputs.element);
  const body = element("div", { class: "comparison-body" }, rail.element, ...columns);
  frame.root.append(top, body, integrity.element, ...tooltips.map((part) => part.element));
  original.parts.push(site, rail, original.map, difference, tooltips[0]);
  changed.parts.push(outputs, changed.map, integrity, tooltips[1]);
  longer.parts.push(transport);
}

/**
 * The two outputs, each token above the one at the same step, so that wrapped lines stay aligned;
 * differences underlined.
 * @param {ViewFrame} frame
 * @param {TraceContext} original
 * @param {TraceContext} changed
 * @returns {Part}
 */
function createOutputs(frame, original, changed) {
  const node = element("div", { class: "comparison-outputs", testid: "comparison-outputs" });
  /** @param {Set<string>} names */
  const update = (names) => {
    if (!names.has("trace")) return;
    const [before, after] = [outputsOf(original.trace), outputsOf(changed.trace)];
    const longer = before.length > after.length ? before : after;
    node.hidden = longer.length === 0; // an encoder alone without mask tokens says nothing
    const label = [frame.say("output_original"), frame.say("output_changed")];
    node.replaceChildren(
      element(
        "div",
        { class: "pair output-name" },
        ...label.map((name) => element("span", {}, name)),
      ),
      ...longer.map((_, step) => outputPair(before[step], after[step])),
    );
  };
  return { element: node, update };
}

/**
 * What a model says: the tokens it decodes, or those it fills in for mask tokens.
 * @param {Trace} trace
 */
function outputsOf({ masks, fillings, predicted, prompt }) {
  if (masks.length) return masks.map((row) => fillings[row]);
  return predicted.slice(Math.max(prompt - 1, 0));
}

/**
 * The tokens of one step without and with the interventions; nothing beyond an output's end.
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
