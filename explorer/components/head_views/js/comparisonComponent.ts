import { assign, element, type Part } from "../../dom/js/element.ts";
import { createIntegrity } from "../../map/js/integrity.ts";
import { createRail } from "../../map/js/rail.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { createTransport } from "../../map/js/transport.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { createSelectionReport } from "../../trace/js/selectionReport.ts";
import type { Trace } from "../../trace/js/trace.ts";
import { giveSize } from "../../trace/js/traceContext.ts";
import { shareScale, synchronise } from "./comparison.ts";
import {
  comparisonColumn,
  createOutputs,
  createSide,
  MAPS_BESIDE,
  RAIL_BESIDE,
  type Side,
} from "./comparisonSides.ts";
import { viewListeners } from "./listeners.ts";
import { createValueMap } from "./valueMap.ts";
import {
  closeContext,
  createViewFrame,
  drawView,
  type Listeners,
  showTrace,
  type ViewFrame,
  watchFrame,
} from "./viewFrame.ts";
import { readViewPayload, type ViewPayload } from "./viewPayload.ts";

const LEAST_DIFFERENCE = 0.01; // of full colour: rounding errors are no finding
const REST = 100; // ms before a selection is reported: the fields of the next change follow it

/** The comparison of two traces as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => `${payload.header.language} ${changedIsLonger(payload)}`,
  listeners: viewListeners,
  open: openComparison,
});

/** Whether the changed output is the longer one, which then has the transport. */
function changedIsLonger(payload: ViewPayload) {
  return payload.trace("changed").steps > payload.trace("original").steps;
}

/** A trace without and with interventions, their steps synchronised, and the difference. */
function openComparison(
  parent: HTMLElement | ShadowRoot,
  payload: ViewPayload,
  listeners: Listeners,
): View<ViewPayload, Listeners> {
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
  original.parts.push({ views: [follow, report] });
  changed.parts.push({ views: [followBack, () => markChange(frame, changed)] });
  for (const { context, map, parts } of sides) {
    drawView(frame, context, parts);
    map.start();
  }
  const draw = () => {
    for (const { context } of sides) giveSize(context);
  };
  watchFrame(frame, draw, MAPS_BESIDE, RAIL_BESIDE);
  const { context: longer } = changedIsLonger(payload) ? changed : original;
  listenToKeys(longer, { p: () => longer.set({ projector: !longer.state.projector }) });
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

/**
 * Let the style sheet know whether there are interventions, whose lines above the maps need room.
 */
function markChange(frame: ViewFrame, { context }: Side) {
  const { interventions } = context.trace.header.facts;
  assign(frame.root, "data-changed", Array.isArray(interventions) && interventions.length > 0);
}

/** Make every part, put it in its place, and add it to those drawn with its trace. */
function placeParts(frame: ViewFrame, original: Side, changed: Side, longer: Side) {
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
  const column: (name: string, part: Part) => HTMLElement = (name, part) =>
    comparisonColumn(name, frame.say(`comparison_${name}`), part);
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

/** What a model says: the tokens it decodes, or those it fills in for mask tokens. */
function outputsOf({ masks, fillings, predicted, prompt }: Trace) {
  if (masks.length) return masks.map((row) => fillings[row]);
  return predicted.slice(Math.max(prompt - 1, 0));
}
