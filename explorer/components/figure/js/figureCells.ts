import { drawn } from "../../dom/js/drawing.ts";
import { bitmap, paint } from "../../map/js/bitmap.ts";
import { wholeRange } from "../../map/js/geometry.ts";
import { isLargeMap, part } from "../../map/js/largeMap.ts";
import { hairlines, maskedFills, maskedPaths } from "../../map/js/pattern.ts";
import { colourAt, css } from "../../page/js/palette.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import { shownHead, shownKeys, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

type FigureContext = Pick<TraceContext, "trace" | "state" | "palette">;

/** px: the corner, and the size of a cell */
export type Places = { left: number; top: number; across: number; down: number };

const SHARPNESS = 3; // pixels of an image for each px of the figure

/**
 * The cells of the selected head: one rectangle for each run of equal ones, or of a large map an
 * image.
 */
export function figureCells(context: FigureContext, places: Places) {
  if (isLargeMap(siteOf(context))) return imageOfCells(context, places);
  const shape = { queries: visibleRows(context), keys: shownKeys(context) };
  const { left, top, across, down } = places;
  const size = { width: shape.keys * across, height: shape.queries * down };
  const lines = hairlines(context.palette, { ...size, ...wholeRange(shape) }, shape);
  const at = { transform: `translate(${left} ${top})` };
  return [...rectangles(context, places), drawn("g", at, ...lines)];
}

function rectangles(context: FigureContext, { left, top, across, down }: Places) {
  const { state, palette } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, shownHead(state));
  const tone = tones(site.weights(state.layer, shownHead(state)), site.keys, scaleOf(state, site));
  const fills = (cell: number) => {
    const code = masked[cell];
    return code ? maskedFills(palette, code) : [css(colourAt(palette.ramp, tone[cell]))];
  };
  const white = css(palette.paper);
  const found: SVGElement[] = [];
  for (let query = 0; query < visibleRows(context); query += 1) {
    for (let key = 0, end = 0; key < shownKeys(context); key = end) {
      const fill = fills(query * site.keys + key);
      for (end = key + 1; end < shownKeys(context); end += 1)
        if (fills(query * site.keys + end).join() !== fill.join()) break;
      const place = { x: left + key * across, y: top + query * down };
      const shape = { ...place, width: (end - key) * across, height: down };
      const crisp = { "shape-rendering": "crispEdges" };
      if (fill[0] !== white)
        found.push(...fill.map((each) => drawn("rect", { ...shape, ...crisp, fill: each })));
    }
  }
  return found;
}

/**
 * The cells as an image, in which a pixel shows the largest weight it covers, below the strokes of
 * the masked ones.
 */
function imageOfCells(context: FigureContext, { left, top, across, down }: Places) {
  const { state, palette } = context;
  const site = siteOf(context);
  const shape = { queries: visibleRows(context), keys: shownKeys(context) };
  if (shape.queries * shape.keys === 0) return [];
  const [rows, columns] = [shape.queries, shape.keys].map((count) => ({ first: 0, count }));
  const tone = tones(site.weights(state.layer, shownHead(state)), site.keys, scaleOf(state, site));
  const masked = part(site.masked(state.layer, shownHead(state)), site.keys, rows, columns);
  const cells = { ...shape, tone: part(tone, site.keys, rows, columns), masked };
  const place = { x: left, y: top, width: shape.keys * across, height: shape.queries * down };
  const pixels = (count: number, size: number) =>
    Math.min(count, Math.ceil(count * size * SHARPNESS));
  const canvas = document.createElement("canvas");
  paint(canvas, bitmap(palette, cells, [pixels(shape.queries, down), pixels(shape.keys, across)]));
  const looks = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
  const image = drawn("image", { ...place, ...looks, href: canvas.toDataURL() });
  const plot = { width: place.width, height: place.height, ...wholeRange(shape) };
  const at = { transform: `translate(${left} ${top})` };
  return [image, drawn("g", at, ...maskedPaths(palette, plot, shape, masked))];
}
