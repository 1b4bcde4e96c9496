import { positionRectangle } from "../../dom/js/element.ts";
import type { Palette } from "../../page/js/palette.ts";
import type { Site } from "../../trace/js/trace.ts";
import { bitmap, type PaintedCells, paint } from "./bitmap.ts";
import { cellSize, type Geometry, type Range, xOf, yOf } from "./geometry.ts";

export type Shape = Pick<Site, "queries" | "keys">;

const LARGEST_PLOT = 128 * 128; // cells; Plotly takes seconds for hundreds of thousands

/**
 * Whether a map has more cells than Plotly draws at once: then it draws none, and only its zoom
 * is used.
 */
export function isLargeMap({ queries, keys }: Shape) {
  return queries * keys > LARGEST_PLOT;
}

/**
 * Paint the cells of the present zoom with no more pixels than the screen has; a pixel shows the
 * largest weight it covers.
 */
export function paintVisible(
  canvas: HTMLCanvasElement,
  geometry: Geometry,
  palette: Pick<Palette, "ramp" | "masked">,
  { tone, masked, queries, keys }: PaintedCells,
) {
  const [rows, columns] = [shown(geometry.y, queries), shown(geometry.x, keys)];
  const visible = {
    tone: part(tone, keys, rows, columns),
    masked: part(masked, keys, rows, columns),
    ...{ queries: rows.count, keys: columns.count },
  };
  const cell = cellSize(geometry);
  const ratio = window.devicePixelRatio || 1;
  const pixels = (count: number, size: number) =>
    Math.min(count, Math.max(1, Math.round(count * size * ratio)));
  const size = [pixels(rows.count, cell.height), pixels(columns.count, cell.width)];
  paint(canvas, bitmap(palette, visible, size));
  const [left, top] = [xOf(geometry, columns.first), yOf(geometry, rows.first)];
  const [width, height] = [columns.count * cell.width, rows.count * cell.height];
  positionRectangle(canvas, geometry.left + left, geometry.top + top, width, height);
  const [right, bottom] = [left + width - geometry.width, top + height - geometry.height];
  canvas.style.clipPath = `inset(${[-top, right, bottom, -left].map((px) => `${px}px`).join(" ")})`;
}

/** The positions of which any part is in a range. */
function shown([start, end]: Range, count: number) {
  const first = Math.max(0, Math.floor(start + 0.5));
  const last = Math.min(count, Math.ceil(end + 0.5));
  return { first, count: Math.max(last - first, 1) };
}

/**
 * The cells of some rows and columns.
 * @param cells row by row
 */
export function part<Cells extends Float32Array | Uint8Array | Uint16Array>(
  cells: Cells,
  keys: number,
  rows: { first: number; count: number },
  columns: { first: number; count: number },
): Cells {
  const start = rows.first * keys;
  if (columns.count === keys) return cells.subarray(start, start + rows.count * keys) as Cells;
  const found = cells.slice(0, rows.count * columns.count) as Cells;
  for (let row = 0; row < rows.count; row += 1) {
    const from = start + row * keys + columns.first;
    found.set(cells.subarray(from, from + columns.count), row * columns.count);
  }
  return found;
}
