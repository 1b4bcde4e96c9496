import { assign } from "../../dom/js/element.ts";
import { createRail } from "../../map/js/rail.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { createSelectionReport } from "../../trace/js/selectionReport.ts";
import type { Trace } from "../../trace/js/trace.ts";
import { synchronise } from "./comparison.ts";
import {
  type Comparison,
  createComparison,
  createOutputs,
  placeComparison,
  type Side,
  showComparison,
} from "./comparisonSides.ts";
import { viewListeners } from "./listeners.ts";
import { createValueMap } from "./valueMap.ts";
import type { Listeners } from "./viewFrame.ts";
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
  const comparison = createComparison(parent, payload, listeners);
  const { original, changed } = comparison;
  const longer = changedIsLonger(payload) ? changed : original;
  placeParts(comparison, longer);
  const [follow, followBack] = synchronise(original.context, changed.context);
  const report = createSelectionReport(original.context, { rest: REST });
  original.parts.push({ views: [follow, report] });
  changed.parts.push({ views: [followBack, () => markChange(comparison)] });
  return showComparison(comparison, longer);
}

/**
 * Let the style sheet know whether there are interventions, whose lines above the maps need room.
 */
function markChange({ frame, changed }: Comparison) {
  const { interventions } = changed.context.trace.header.facts;
  assign(frame.root, "data-changed", Array.isArray(interventions) && interventions.length > 0);
}

function placeParts(comparison: Comparison, longer: Side) {
  const { frame, original, changed } = comparison;
  const { say } = frame;
  placeComparison(comparison, longer, {
    rail: createRail(original.context, { without: () => changed.context.trace }),
    outputs: createOutputs(
      () => [say("output_original"), say("output_changed")],
      () => [outputsOf(original.context.trace), outputsOf(changed.context.trace)],
    ),
    difference: createValueMap(original.context, frame, {
      name: "difference",
      read: (which) => frame.payload.values("difference", which),
      least: LEAST_DIFFERENCE,
    }),
    headings: [say("comparison_original"), say("comparison_changed"), say("comparison_difference")],
  });
}

/** What a model says: the tokens it decodes, or those it fills in for mask tokens. */
function outputsOf({ masks, fillings, predicted, prompt }: Trace) {
  if (masks.length) return masks.map((row) => fillings[row]);
  return predicted.slice(Math.max(prompt - 1, 0));
}
