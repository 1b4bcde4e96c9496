import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure, endFigure } from "../../figure/js/figureSheet.ts";
import {
  addParagraph,
  drawn,
  FONT,
  figurePen,
  LINE,
  MARGIN,
  TYPE,
  widthOf,
} from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { colourAt, css, inkOn, printPalette } from "../../page/js/palette.ts";
import { headName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { rampOf } from "./colourBar.ts";
import { addScale } from "./figureScale.ts";
import type { Table } from "./similarityMatrix.ts";
import type { ViewFrame } from "./viewFrame.ts";

const WIDEST = 46; // px of a cell
const PRINTED = 30; // px that a number needs
const GAP = 6; // px

/**
 * How alike all heads of two traces are, as a figure that explains itself.
 * @param contexts of both traces
 * @param width px
 */
export function similarityFigure(
  contexts: TraceContext[],
  frame: ViewFrame,
  table: Table,
  width: number,
): Figure {
  const { header } = frame.payload;
  const [a, b] = header.names ?? ["", ""];
  const [context] = contexts;
  const palette = printPalette(FONT);
  const figure = beginFigure(palette, header.language, width);
  const site = context.say(`site_${siteOf(context).name}`);
  const captions = [
    frame.say("similarity_axes", { a, b }),
    frame.say("similarity_title"),
    frame.say("figure_matched", { count: siteOf(context).queries }),
    ...new Set(contexts.flatMap(figureOrigin)),
  ];
  let end = addParagraph(figure, frame.say("similarity_heading", { site }), MARGIN, {
    heading: true,
  });
  for (const text of captions) end = addParagraph(figure, text, end + 2);
  end = addCells(figure, table, rampOf(palette, false), end + LINE / 2);
  const scale = { ...table.scale, ramp: rampOf(palette, false) };
  end = addScale(figure, palette, scale, frame.say("similarity"), end + LINE / 2);
  return endFigure(figure, palette, header.project ?? "", end + LINE / 2);
}

/**
 * The cells with their numbers, where there is room for them, and the names of the heads.
 * @param top px
 */
function addCells(
  figure: SVGElement,
  { rows, columns, value, matched, scale }: Table,
  ramp: import("../../page/js/palette.ts").Colour[],
  top: number,
) {
  const names = [...rows, ...columns].map(({ layer, head }) => headName(layer, head));
  const label = Math.max(...names.map((name) => textWidth(figurePen(), name))) + GAP;
  const [left, start] = [MARGIN + label, top + label];
  const size = Math.min(WIDEST, (widthOf(figure) - MARGIN - left) / columns.length);
  const { least = 0, most } = scale;
  rows.forEach((place, row) => {
    const y = start + (row + 0.5) * size;
    if (size >= TYPE || row % Math.ceil(TYPE / size) === 0)
      figure.append(text(left - GAP, y, headName(place.layer, place.head), "end"));
    columns.forEach((_, column) => {
      const x = left + (column + 0.5) * size;
      const share = Math.max(0, Math.min(1, (value(row, column) - least) / (most - least)));
      const colour = colourAt(ramp, Number.isFinite(share) ? share : 0);
      const box = { x: x - size / 2, y: y - size / 2, width: size, height: size };
      figure.append(drawn("rect", { ...box, fill: css(colour) }));
      const number = value(row, column).toFixed(2).replace(/^0/, "");
      const ink = inkOn(colour);
      if (size >= PRINTED) figure.append(text(x, y, number, "middle", { fill: ink }));
      if (matched(row, column)) {
        const place = size >= PRINTED ? [x + size / 2 - 5, y - size / 2 + 5] : [x, y];
        figure.append(drawn("circle", { cx: place[0], cy: place[1], r: 2.5, fill: ink }));
      }
    });
  });
  columns.forEach(({ layer, head }, column) => {
    const [x, y] = [left + (column + 0.5) * size, start - GAP];
    const turned = { transform: `rotate(-90 ${x} ${y})` };
    if (size >= TYPE || column % Math.ceil(TYPE / size) === 0)
      figure.append(text(x, y, headName(layer, head), "start", turned));
  });
  return start + rows.length * size;
}

/**
 * A text whose letters stand around the height `y`.
 * @param x px
 * @param y px
 */
function text(
  x: number,
  y: number,
  content: string,
  anchor: "start" | "middle" | "end",
  looks: Record<string, string> = {},
) {
  return drawn("text", { x, y: y + TYPE * 0.35, "text-anchor": anchor, ...looks }, content);
}
