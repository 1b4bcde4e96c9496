import { drawn } from "../../dom/js/drawing.ts";
import { figurePen, LINE, MARGIN, shortLabel, TYPE } from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { type Colour, css, inkOn } from "../../page/js/palette.ts";

/** A number of a layer as it is written; null without a colour. */
export interface FigureNumber {
  layer: number;
  column: number; // its head or position
  written: string;
  colour: Colour | null;
}

const NAMES = 34; // px left of the cells, for the names of layers
const CELL = { widest: 72, height: 24, padding: 6 }; // px
const LINES_APART = LINE + 4; // px above a line of cells, for the names of columns

/**
 * Numbers on their colours: layers down, heads or positions across.
 * @param given.columns their names; those of heads where none are given
 * @param width px
 * @returns px, the end
 */
export function addNumbers(
  figure: SVGElement,
  { name, columns, cells }: { name: string; columns?: string[]; cells: FigureNumber[] },
  above: number,
  width: number,
) {
  const pen = figurePen();
  const nameOf = (column: number) => columns?.[column] ?? `H${column}`;
  const texts = cells.flatMap(({ written, column }) => [written, nameOf(column)]);
  const narrowest = Math.max(...texts.map((text) => textWidth(pen, text))) + CELL.padding;
  const layout = layoutOf(cells, Math.min(narrowest, CELL.widest), width);
  const top = above + LINE * 1.5;
  figure.append(
    drawn("text", { x: MARGIN, y: top, "font-weight": 600 }, name),
    ...names(cells, nameOf, layout, top),
    ...cells.flatMap((one) => cell(layout.placeOf(one, top), one)),
  );
  return layout.endBelow(top);
}

/**
 * Where the cells lie; those of a layer take several lines where they are many.
 * @param narrowest px of a cell
 * @param sheet px
 */
export function layoutOf(
  cells: { layer: number; column: number }[],
  narrowest: number,
  sheet: number,
) {
  const count = Math.max(...cells.map(({ column }) => column)) + 1;
  const space = sheet - 2 * MARGIN - NAMES;
  const lines = Math.ceil((count * narrowest) / space);
  const across = Math.ceil(count / lines);
  const width = Math.min(CELL.widest, space / across);
  const layers = Math.max(...cells.map(({ layer }) => layer)) + 1;
  const apart = lines > 1 ? LINES_APART : 0;
  const down = CELL.height + apart;
  const placeOf: (
    one: { layer: number; column: number },
    top: number,
  ) => { x: number; y: number; width: number } = ({ layer, column }, top) => ({
    x: MARGIN + NAMES + (column % across) * width,
    y: top + LINE + 6 + (layer * lines + Math.floor(column / across)) * down,
    width,
  });
  const endBelow = (top: number) => top + LINE + 6 + layers * lines * down - apart;
  return { lines, placeOf, endBelow };
}

/**
 * The names of layers and of columns: once, or above every line of cells where a layer has several.
 * @param top px
 */
function names(
  cells: FigureNumber[],
  nameOf: (column: number) => string,
  { lines, placeOf }: ReturnType<typeof layoutOf>,
  top: number,
) {
  const pen = figurePen();
  const layers = [...new Set(cells.map(({ layer }) => layer))];
  const rows = layers.map((layer) => {
    const { y } = placeOf({ layer, column: 0 }, top);
    return drawn("text", { x: MARGIN, y: y + CELL.height / 2 + TYPE * 0.35 }, `L${layer}`);
  });
  const named = lines > 1 ? cells : cells.filter(({ layer }) => layer === layers[0]);
  const columns = named.map((one) => {
    const { x, y, width } = placeOf(one, top);
    const at = { x: x + width / 2, y: y - 4, "text-anchor": "middle" };
    return drawn("text", at, shortLabel(pen, nameOf(one.column), width - 2));
  });
  return [...rows, ...columns];
}

/** A number on its colour. */
function cell(
  { x, y, width }: { x: number; y: number; width: number },
  { written, colour }: FigureNumber,
) {
  const fill = colour ? css(colour) : "none";
  const box = { x, y, width: width - 2, height: CELL.height - 2, fill };
  const ink = colour ? { fill: inkOn(colour) } : {};
  const at = { x: x + width / 2 - 1, y: y + CELL.height / 2 - 1 + TYPE * 0.35 };
  return [drawn("rect", box), drawn("text", { ...at, ...ink, "text-anchor": "middle" }, written)];
}
