import { assign, element } from "../../shared/js/element.js";
import { createIntegrity } from "../../shared/js/integrity.js";
import { listenToKeys } from "../../shared/js/keyboard.js";
import { createRail } from "../../shared/js/rail.js";
import { createSelectionReport } from "../../shared/js/selectionReport.js";
import { createSiteChoice } from "../../shared/js/siteChoice.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { createTooltip } from "../../shared/js/tooltip.js";
import { drawAll } from "../../shared/js/traceContext.js";
import { createTransport } from "../../shared/js/transport.js";
import { shareScale, synchronise } from "./comparison.js";
import {
  comparisonColumn,
  createOutputs,
  createSide,
  MAPS_BESIDE,
  RAIL_BESIDE,
} from "./comparisonSides.js";
import { viewListeners } from "./listeners.js";
import { createValueMap } from "./valueMap.js";
import { closeContext, createViewFrame, showTrace, watchFrame } from "./viewFrame.js";
import { readViewPayload } from "./viewPayload.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { Side } from "./comparisonSides.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */
/** @import { ViewPayload } from "./viewPayload.js" */

const LEAST_DIFFERENCE = 0.01; // of full colour: rounding errors are no finding
const REST = 100; // ms before a selection is reported: the fields of the next change follow it

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
  const original = createSide(frame, payload.trace("original"), listeners);
  const changed = createSide(frame, payload.trace("changed"), listeners);
  const sides = [original, changed];
  original.context.beside = [changed.context];
  changed.context.beside = [original.context];
  shareScale(original.context.trace, changed.context.trace);
  placeParts(frame, original, changed, changedIsLonger(payload) ? changed : original);
  const [follow, followBack] = synchronise(original.context, changed.context);
  const report = createSelectionReport(original.context, { rest: REST });
  original.parts.push({ update: follow }, { update: report });
  changed.parts.push({ update: followBack }, { update: () => markChange(frame, changed) });
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
 * Let the style sheet know whether there are interventions, whose lines above the maps need room.
 * @param {ViewFrame} frame
 * @param {Side} changed
 */
function markChange(frame, { context }) {
  const { interventions } = context.trace.header.facts;
  assign(frame.root, "data-changed", Array.isArray(interventions) && interventions.length > 0);
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
  const outputs = createOutputs(
    () => [frame.say("output_original"), frame.say("output_changed")],
    () => [outputsOf(original.context.trace), outputsOf(changed.context.trace)],
  );
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
  const column = (name, part) => comparisonColumn(name, frame.say(`comparison_${name}`), part);
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
 * What a model says: the tokens it decodes, or those it fills in for mask tokens.
 * @param {Trace} trace
 */
function outputsOf({ masks, fillings, predicted, prompt }) {
  if (masks.length) return masks.map((row) => fillings[row]);
  return predicted.slice(Math.max(prompt - 1, 0));
}
