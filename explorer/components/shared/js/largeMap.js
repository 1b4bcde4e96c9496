import { bitmap, paint } from "./bitmap.js";
import { positionRectangle } from "./element.js";
import { cellSize, xOf, yOf } from "./geometry.js";

/** @import { Geometry, Range } from "./geometry.js" */
/** @import { Palette } from "./palette.js" */
/** @import { Site } from "./trace.js" */

/** @typedef {Pick<Site, "queries" | "keys">} Shape */

const LARGEST_PLOT = 128 * 128; // cells; Plotly takes seconds for hundreds of thousands

/**
 * Whether a map has more cells than Plotly draws at once: then it draws none, and only its zoom
 * is used.
 * @param {Shape} site
 */
export function isLargeMap({ queries, keys }) {
  return queries * keys > LARGEST_PLOT;
}

/**
 * Paint the cells of the present zoom with no more pixels than the screen has; a pixel shows the
 * largest weight it covers.
 * @param {HTMLCanvasElement} canvas
 * @param {Geometry} geometry
 * @param {Pick<Palette, "ramp" | "masked">} palette
 * @param {Float32Array} tone by cell, 0..1
 * @param {Uint8Array} masked codes by cell
 * @param {Shape} site
 */
export function paintVisible(canvas, geometry, palette, tone, masked, site) {
  const [rows, columns] = [shown(geometry.y, site.queries), shown(geometry.x, site.keys)];
  const shape = { queries: rows.count, keys: columns.count };
  const cell = cellSize(geometry);
  const ratio = window.devicePixelRatio || 1;
  /** @type {(count: number, size: number) => number} */
  const pixels = (count, size) => Math.min(count, Math.max(1, Math.round(count * size * ratio)));
  const image = bitmap(
    palette,
    part(tone, site.keys, rows, columns),
    part(masked, site.keys, rows, columns),
    shape,
    pixels(rows.count, cell.height),
    pixels(columns.count, cell.width),
  );
  paint(canvas, image);
  const [left, top] = [xOf(geometry, columns.first), yOf(geometry, rows.first)];
  const [width, height] = [columns.count * cell.width, rows.count * cell.height];
  positionRectangle(canvas, geometry.left + left, geometry.top + top, width, height);
  const [right, bottom] = [left + width - geometry.width, top + height - geometry.height];
  canvas.style.clipPath = `inset(${[-top, right, bottom, -left].map((px) => `${px}px`).join(" ")})`;
}

/**
 * The positions of which any part is in a range.
 * @param {Range} range
 * @param {number} count
 */
function shown([start, end], count) {
  const first = Math.max(0, Math.floor(start + 0.5));
  const last = Math.min(count, Math.ceil(end + 0.5));
  return { first, count: Math.max(last - first, 1) };
}

/**
 * The cells of some rows and columns.
 * @template {Float32Array | Uint8Array} Cells
 * @param {Cells} cells row by row
 * @param {number} keys
 * @param {{first: number, count: number}} rows
 * @param {{first: number, count: number}} columns
 * @returns {Cells}
 */
export function part(cells, keys, rows, columns) {
  const start = rows.first * keys;
  if (columns.count === keys)
    return /** @type {Cells} */ (cells.subarray(start, start + rows.count * keys));
  const found = /** @type {Cells} */ (
    new /** @type {any} */ (cells.constructor)(rows.count * columns.count)
  );
  for (let row = 0; row < rows.count; row += 1) {
    const from = start + row * keys + columns.first;
    found.set(cells.subarray(from, from + columns.count), row * columns.count);
  }
  return found;
}
