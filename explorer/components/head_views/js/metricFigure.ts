import { drawn } from "../../dom/js/drawing.ts";
import { shortNumber, signedNumber } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, figurePen, LINE, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { type Colour, css, inkOn, type Palette, printPalette } from "../../page/js/palette.ts";
import { isDifference } from "./headRoles.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { MeasuredHead } from "./viewPayload.ts";

const NAMES = 34; // px left of the cells, for the names of layers
const CELL = { widest: 72, height: 24, padding: 6 }; // px
const LINES_APART = LINE + 4; // px above a line of cells, for the names of heads

/**
 * A metric of every head as a figure that explains itself: a table for each attention, layers down
 * and heads across.
 * @param drawing.colour of a number
 * @param width px
 */
export function metricFigure(
  frame: ViewFrame,
  metric: string,
  {
    colour,
    numberOf,
    signed,
  }: {
    colour: (palette: Palette, value: number) => Colour;
    numberOf: (measured: MeasuredHead) => number | null;
    signed: boolean;
  },
  width: number,
): Figure {
  const { header } = frame.payload;
  const palette = printPalette(FONT);
  const title = frame.say(`metric_${metric}`);
  const texts = { palette, title, captions: captions(frame, metric), width };
  let { figure, end, finish } = beginFigure(header, texts);
  const number = signed ? signedNumber : shortNumber;
  const pen = figurePen();
  for (const [site, heads] of Object.entries(header.heads)) {
    const widths = heads.map((head) => textWidth(pen, number(numberOf(head))));
    const layout = layoutOf(heads, Math.max(...widths) + CELL.padding, width);
    const name = frame.sayOfPlayer(`site_${site}`);
    const top = end + LINE * 1.5;
    figure.append(drawn("text", { x: MARGIN, y: top, "font-weight": 600 }, name));
    figure.append(...names(heads, layout, top));
    for (const head of heads) {
      const value = numberOf(head);
      const place = layout.placeOf(head, top);
      figure.append(...cell(place, value, value === null ? null : colour(palette, value), number));
    }
    end = layout.endBelow(top);
  }
  return finish(end);
}

/** What the metric is, of which model, and over which and how many sentences. */
function captions({ payload, say, sayOfPlayer }: ViewFrame, metric: string) {
  const { model, batch, sentences, removed_on: removedOn } = payload.header;
  const count = isDifference(metric) ? removedOn : sentences;
  const origin = model ? sayOfPlayer("figure_model", { name: model }) : "";
  const measured = say("figure_sentences", { count: count ?? 0, batch: batch ?? "" });
  return [say(`metric_${metric}_title`), origin, measured];
}

/**
 * Where cells and names of one attention lie; the heads of a layer take several lines where they
 * are many.
 * @param narrowest px of a cell
 * @param sheet px
 */
export function layoutOf(
  heads: { layer: number; head: number }[],
  narrowest: number,
  sheet: number,
) {
  const count = Math.max(...heads.map(({ head }) => head)) + 1;
  const space = sheet - 2 * MARGIN - NAMES;
  const lines = Math.ceil((count * narrowest) / space);
  const across = Math.ceil(count / lines);
  const width = Math.min(CELL.widest, space / across);
  const layers = Math.max(...heads.map(({ layer }) => layer)) + 1;
  const apart = lines > 1 ? LINES_APART : 0;
  const down = CELL.height + apart;
  const placeOf: (
    one: { layer: number; head: number },
    top: number,
  ) => { x: number; y: number; width: number } = ({ layer, head }, top) => ({
    x: MARGIN + NAMES + (head % across) * width,
    y: top + LINE + 6 + (layer * lines + Math.floor(head / across)) * down,
    width,
  });
  const endBelow = (top: number) => top + LINE + 6 + layers * lines * down - apart;
  return { lines, placeOf, endBelow };
}

/**
 * The names of layers and of heads: once, or above every line of cells where a layer has several.
 * @param top px
 */
function names(
  heads: MeasuredHead[],
  { lines, placeOf }: ReturnType<typeof layoutOf>,
  top: number,
) {
  const layers = [...new Set(heads.map(({ layer }) => layer))];
  const rows = layers.map((layer) => {
    const { y } = placeOf({ layer, head: 0 }, top);
    return drawn("text", { x: MARGIN, y: y + CELL.height / 2 + TYPE * 0.35 }, `L${layer}`);
  });
  const named = lines > 1 ? heads : heads.filter(({ layer }) => layer === layers[0]);
  const columns = named.map(({ layer, head }) => {
    const { x, y, width } = placeOf({ layer, head }, top);
    return drawn("text", { x: x + width / 2, y: y - 4, "text-anchor": "middle" }, `H${head}`);
  });
  return [...rows, ...columns];
}

/** A number on its colour. */
function cell(
  { x, y, width }: { x: number; y: number; width: number },
  value: number | null,
  colour: Colour | null,
  number: (value: number | null) => string,
) {
  const fill = colour ? css(colour) : "none";
  const box = { x, y, width: width - 2, height: CELL.height - 2, fill };
  const ink = colour ? { fill: inkOn(colour) } : {};
  const at = { x: x + width / 2 - 1, y: y + CELL.height / 2 - 1 + TYPE * 0.35 };
  return [
    drawn("rect", box),
    drawn("text", { ...at, ...ink, "text-anchor": "middle" }, number(value)),
  ];
}
