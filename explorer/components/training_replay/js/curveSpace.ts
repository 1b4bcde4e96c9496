import { computed, measured } from "../../dom/js/store.ts";
import { measuringPen, textWidth } from "../../map/js/geometry.ts";
import { type Box, heightFor, panelBoxes, TYPE } from "./curveAxes.ts";
import { curveChart } from "./curveChart.ts";
import { headingOf, type Panel } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";

export const HEADING = 20; // px of a line above a panel
const PROJECTED_TYPE = 18; // px
const VALUE = 130; // px beside the name of a panel that its value may need
const LEAST_PROJECTED = 120; // px of a panel
const NARROWEST = 60; // px of a chart

export type CurveSpace = ReturnType<typeof createCurveSpace>;

/**
 * The chart in the space that its panels have, and where a step lies in it.
 * @param within.columns how many panels are beside each other
 * @param within.range of the steps that are shown
 */
export function createCurveSpace(
  context: ReplayContext,
  panels: Panel[],
  within: { box: HTMLElement; columns: () => number; range: () => [number, number] },
) {
  const { box, columns, range } = within;
  const width = measured(() => box.clientWidth);
  const height = measured(() => box.clientHeight);
  const font = measured(() => getComputedStyle(box.querySelector(".curve-name") as Element).font);
  const type = () => (context.state.projector ? PROJECTED_TYPE : TYPE);
  /** Lines above each panel: its value has its own where it does not fit beside the name. */
  const headingLines = () => {
    if (!context.state.projector || columns() > 1) return 1;
    const pen = measuringPen(font());
    const left = panelBoxes(panels, 1, { width: 0, height: 0 }, PROJECTED_TYPE)[0].left;
    const room = width() - left - VALUE;
    const names = panels.map((panel) => context.say(headingOf(context.run, panel)));
    return names.some((name) => textWidth(pen, name) > room) ? 2 : 1;
  };
  const reserve = () => {
    const heading = headingLines();
    box.classList.toggle("two-lines", heading > 1);
    const least = `${heightFor(panels, LEAST_PROJECTED, type(), heading)}px`;
    box.style.setProperty("--least-height", least);
  };
  const chart = computed(() => {
    const size = { width: width(), height: height() };
    if (size.width < NARROWEST || size.height < NARROWEST) return null;
    const given = { columns: columns(), size, range: range(), type: type() };
    return curveChart(context, panels, { ...given, heading: headingLines() });
  });
  const boxes = () => chart()?.boxes ?? [];
  /** Where a step is, px from the left; null where it is not shown. */
  const placeOf = (step: number, { left, width }: Box) => {
    const [low, high] = range();
    return low <= step && step <= high ? left + ((step - low) / (high - low)) * width : null;
  };
  /** The step at a place, px; null beside the panels. */
  const stepAt = (x: number, y: number) => {
    const found = boxes().find((one) => isIn(one, x, y));
    const [low, high] = range();
    return found ? low + ((x - found.left) / found.width) * (high - low) : null;
  };
  return { panels, columns, width, headingLines, reserve, chart, boxes, placeOf, stepAt };
}

function isIn({ left, top, width, height }: Box, x: number, y: number) {
  return x >= left - 8 && x <= left + width + 8 && y >= top - HEADING && y <= top + height + 20;
}
