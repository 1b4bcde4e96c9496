import { element } from "../../shared/js/element.js";
import { positionTooltip } from "../../shared/js/tooltip.js";
import { shortValue } from "./numbers.js";
import { nearestMoment } from "./runData.js";

/** @import { Line, Panel } from "./curvePanels.js" */
/** @import { ReplayContext } from "./replayContext.js" */

const MOST_LINES = 12;

/**
 * The values of all lines of a panel at the step under the pointer.
 * @param {ReplayContext} context
 * @param {string} testid
 */
export function createCurveTooltip(context, testid) {
  const node = element("div", { class: "tooltip curve-tooltip", role: "tooltip", testid });
  node.hidden = true;
  /** @type {(panel: Panel, step: number, pointer: {x: number, y: number}) => void} */
  const show = (panel, step, pointer) => {
    const values = valuesAt(panel.lines(context), step);
    const { format = shortValue } = panel;
    const rows = values.slice(0, MOST_LINES).map(({ line, value }) => {
      const swatch = element("i", { class: "swatch" });
      swatch.style.background = line.colour;
      return element(
        "div",
        {},
        swatch,
        element("span", { class: "name" }, line.name || context.say(panel.name)),
        " ",
        element("b", {}, format(value)),
      );
    });
    node.hidden = rows.length === 0;
    const title = `${context.say("step_axis")} ${step}`;
    node.replaceChildren(element("div", {}, title), ...rows);
    positionTooltip(context.root, node, pointer);
  };
  return { element: node, show, hide: () => (node.hidden = true) };
}

/**
 * The value of each line at its moment nearest to `step`, the largest first; none beyond the last.
 * @param {Line[]} lines
 * @param {number} step
 * @returns {{line: Line, value: number}[]}
 */
export function valuesAt(lines, step) {
  const found = lines.flatMap((line) => {
    const index = nearestMoment(
      line.x.map((at) => ({ step: at })),
      step,
    );
    const value = line.y[index] ?? null;
    const beyond = step > (line.x.at(-1) ?? -1);
    return value === null || beyond ? [] : [{ line, value }];
  });
  return found.sort((one, other) => other.value - one.value);
}
