import type { Figure } from "../../dom/js/savedFile.ts";
import { chartFigure } from "../../figure/js/figureSheet.ts";
import { FONT, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { printPalette } from "../../page/js/palette.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { comparisonOrigin } from "./comparisonOrigin.ts";
import { fit, similarityChart, type Table } from "./similarityChart.ts";
import type { ViewFrame } from "./viewFrame.ts";

const MOST = { cell: 46, rows: 1000 }; // px

/**
 * How alike all heads of two traces are, as a figure that explains itself.
 * @param contexts of both traces
 * @param width px
 * @returns null as long as there is no Plotly
 */
export function similarityFigure(
  contexts: TraceContext[],
  frame: ViewFrame,
  table: Table,
  width: number,
): Promise<Figure> | null {
  const { header } = frame.payload;
  const [a, b] = header.names ?? ["", ""];
  const [context] = contexts;
  if (!context.plotly) return null;
  const palette = printPalette(FONT);
  const layout = fit(table, width - 2 * MARGIN, TYPE, MOST);
  const looks = { palette, name: frame.say("similarity"), type: TYPE };
  return chartFigure(context.plotly, similarityChart(table, layout, looks), header, {
    palette,
    title: frame.say("similarity_heading", { site: context.say(`site_${siteOf(context).name}`) }),
    captions: [
      frame.say("similarity_axes", { a, b }),
      frame.say("similarity_title"),
      frame.say("figure_matched", { count: siteOf(context).queries }),
      ...comparisonOrigin(contexts, frame),
    ],
    width,
  });
}
