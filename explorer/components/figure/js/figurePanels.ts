import { drawn } from "../../dom/js/drawing.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { css } from "../../page/js/palette.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { figureCells } from "./figureCells.ts";
import { addLegend, shownCodes } from "./figureLegend.ts";
import { figurePen, LINE, widthOf } from "./figureText.ts";
import { placePanels } from "./panelLayout.ts";

type Content = Omit<Parameters<typeof placePanels>[0], "measure" | "sheet" | "top"> & {
  contextOf: (row: number, column: number) => TraceContext | null;
};

/**
 * Small maps in rows and columns with their legend, as `placePanels` places them.
 * @param top px
 * @param given.contextOf what a panel shows; null where there is none
 * @returns px, its end
 */
export function addPanels(
  figure: SVGElement,
  top: number,
  { contextOf, ...content }: Content,
): number {
  const pen = figurePen();
  const measure = (text: string) => textWidth(pen, text);
  const layout = placePanels({ ...content, measure, sheet: widthOf(figure), top });
  figure.append(...layout.texts.map(({ text, ...place }) => drawn("text", place, text)));
  const { keys, queries } = content.shape;
  const size = { width: layout.across * keys, height: layout.down * queries };
  const contexts = layout.panels.flatMap(({ row, column, left, top }) => {
    const context = contextOf(row, column);
    if (!context) return [];
    const { state, palette } = context;
    const site = siteOf(context);
    const cell = { across: size.width / site.keys, down: size.height / site.queries };
    if (!site.removed(state.layer, state.head))
      figure.append(...figureCells(context, { left, top, ...cell }));
    const edge = { fill: "none", stroke: css(palette.ink), "stroke-width": 0.5 };
    figure.append(drawn("rect", { x: left, y: top, ...size, ...edge }));
    return [context];
  });
  const codes = [...new Set(contexts.flatMap(shownCodes))].sort();
  return addLegend(figure, contexts[0], layout.end + LINE / 2, { codes });
}
