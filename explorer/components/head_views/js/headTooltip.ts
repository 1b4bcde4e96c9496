import { element } from "../../dom/js/element.ts";
import { positionTooltip } from "../../map/js/tooltip.ts";
import { shownName } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type HeadFilter, metricShown } from "./headFilter.ts";
import { roleLines } from "./headRoles.ts";
import type { ViewFrame } from "./viewFrame.ts";

/** The hover text of a head in the grid: its name, its roles, and how certain these are. */
export function createHeadTooltip(context: TraceContext, frame: ViewFrame, filter: HeadFilter) {
  const node = element("div", {
    class: "tooltip",
    role: "tooltip",
    testid: "head-tooltip",
    hidden: true,
  });
  const show = (event: PointerEvent, layer: number, head: number) => {
    const { site, everything } = context.state;
    const metric = metricShown(frame, site, filter);
    const lines = roleLines(frame, { site, layer, head }, metric, everything);
    const title = `${context.say(`site_${site}`)} · ${shownName(context, layer, head)}`;
    const meanings = lines.map((line) => element("div", { class: "meaning" }, line));
    node.replaceChildren(element("div", {}, title), ...meanings);
    node.hidden = false;
    positionTooltip(frame.root, node, { x: event.clientX, y: event.clientY });
  };
  const hide = () => {
    node.hidden = true;
  };
  return { element: node, show, hide };
}
