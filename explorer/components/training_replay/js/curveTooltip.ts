import { element } from "../../dom/js/element.ts";
import { shortValue } from "../../dom/js/numbers.ts";
import { positionTooltip } from "../../map/js/tooltip.ts";
import type { Line, Panel } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment } from "./runData.ts";

const MOST_LINES = 12;

/** The values of all lines of a panel at the step under the pointer. */
export function createCurveTooltip(context: ReplayContext, testid: string) {
  const node = element("div", { class: "tooltip curve-tooltip", role: "tooltip", testid });
  node.hidden = true;
  const show: (panel: Panel, step: number, pointer: { x: number; y: number }) => void = (
    panel,
    step,
    pointer,
  ) => {
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
 */
export function valuesAt(lines: Line[], step: number): { line: Line; value: number }[] {
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
