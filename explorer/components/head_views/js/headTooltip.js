import { element } from "../../shared/js/element.js";
import { shownName } from "../../shared/js/stepState.js";
import { positionTooltip } from "../../shared/js/tooltip.js";
import { metricShown } from "./headFilter.js";
import { roleLines } from "./headRoles.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadFilter } from "./headFilter.js" */
/** @import { ViewFrame } from "./viewFrame.js" */

/**
 * The hover text of a head in the grid: its name, its roles, and how certain these are.
 * @param {TraceContext} context
 * @param {ViewFrame} frame
 * @param {HeadFilter} filter
 */
export function createHeadTooltip(context, frame, filter) {
  const node = element("div", {
    class: "tooltip",
    role: "tooltip",
    testid: "head-tooltip",
    hidden: true,
  });
  /** @type {(event: PointerEvent, layer: number, head: number) => void} */
  const show = (event, layer, head) => {
    const { site } = context.state;
    const lines = roleLines(frame, { site, layer, head }, metricShown(frame, site, filter));
    const title = `${context.say(`site_${site}`)} · ${shownName(context, layer, head)}`;
    node.replaceChildren(...[title, ...lines].map((line) => element("div", {}, line)));
    node.hidden = false;
    positionTooltip(frame.root, node, { x: event.clientX, y: event.clientY });
  };
  const hide = () => {
    node.hidden = true;
  };
  return { element: node, show, hide };
}
