import { plain } from "../../dom/js/plotly.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { chartFigure } from "../../figure/js/chartFigure.ts";
import { FONT, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { css, printPalette } from "../../page/js/palette.ts";
import { curveChart } from "./curveChart.ts";
import type { Panel } from "./curvePanels.ts";
import { headingOf } from "./curvePanels.ts";
import { at } from "./endLabels.ts";
import type { ReplayContext } from "./replayContext.ts";

const PANEL = 150; // px of a panel and the space above it
const STEPS = 40; // px below the last one

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
  const size = { width: width - 2 * MARGIN, height: weight * PANEL + STEPS };
  const chart = curveChart(shown, panels, { columns: 1, size, range: range(), type: TYPE });
  const headings = panels.map((panel, index) => ({
    ...at(size, chart.boxes[index].left, chart.boxes[index].top - 2),
    text: plain(say(headingOf(run, panel))),
    showarrow: false,
    xanchor: "left",
    yanchor: "bottom",
    font: { color: css(shown.palette.ink), weight: 600 },
  }));
  chart.layout.annotations.push(...headings);
  const moments = say("figure_moments", { count: run.moments.length, step: last.step });
  return chartFigure(plotly, chart, {
    palette: shown.palette,
    language: run.language,
    title: say("figure_curves", { run: run.name }),
    captions: [run.settings.demo, moments].filter(Boolean),
    project: run.project,
    width,
  });
}
