import { plain } from "../../dom/js/plotly.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { chartFigure } from "../../figure/js/figureSheet.ts";
import { brokenLines, FONT, figurePen, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { css, printPalette } from "../../page/js/palette.ts";
import { HEADING_LINE } from "./curveAxes.ts";
import { curveChart } from "./curveChart.ts";
import { headingOf, type Panel } from "./curvePanels.ts";
import { at } from "./endLabels.ts";
import type { ReplayContext } from "./replayContext.ts";

const PANEL = 150; // px of a panel and the space above it
const STEPS = 40; // px below the last one
const BOLD = 1.1; // width of a bold text to that of a plain one

/**
 * The curves of a training as a figure that explains itself, one panel below the other.
 * @param width px
 * @returns null as long as there is no moment, or no Plotly
 */
export function curvesFigure(
  { run, say, selected, range, plotly }: ReplayContext,
  panels: Panel[],
  width: number,
): Promise<Figure> | null {
  const last = run.moments.at(-1);
  if (!last || !plotly) return null;
  const shown = { run, say, selected, palette: printPalette(FONT) };
  const weight = panels.reduce((sum, panel) => sum + (panel.weight ?? 1), 0);
  const inside = width - 2 * MARGIN;
  const texts = panels.map((panel) =>
    brokenLines(figurePen(), say(headingOf(run, panel)), inside / BOLD),
  );
  const heading = Math.max(...texts.map((lines) => lines.length));
  const above = panels.length * (heading - 1) * HEADING_LINE;
  const size = { width: inside, height: weight * PANEL + STEPS + above };
  const chart = curveChart(shown, panels, {
    columns: 1,
    size,
    range: range(),
    type: TYPE,
    heading,
  });
  const headings = panels.map((_, index) => ({
    ...at(size, 0, chart.boxes[index].top - 8),
    text: texts[index].map(plain).join("<br>"),
    borderpad: 0,
    align: "left",
    showarrow: false,
    xanchor: "left",
    yanchor: "bottom",
    font: { color: css(shown.palette.ink), weight: 600 },
  }));
  chart.layout.annotations.push(...headings);
  const moments = say("figure_moments", { count: run.moments.length, step: last.step });
  return chartFigure(plotly, chart, run, {
    palette: shown.palette,
    title: say("figure_curves", { run: run.name }),
    captions: [run.settings.demo, moments],
    width,
  });
}
