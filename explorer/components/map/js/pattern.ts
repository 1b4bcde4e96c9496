import { maskColour, type Palette } from "../../page/js/palette.ts";
import { LATER, MASK_REASONS, OUTSIDE, PADDING, UNMASKED } from "../../trace/js/look.ts";
import type { Site } from "../../trace/js/trace.ts";
import { cellSize, type Plot, xOf, yOf } from "./geometry.ts";

export type Shape = Pick<Site, "queries" | "keys">;

type Codes = Uint8Array | number[]; // by cell

/** The codes of the reasons why a cell is masked. */
export const MASK_CODES = [...MASK_REASONS.keys()].filter((code) => code !== UNMASKED);

const PITCH = 7; // px between two strokes

/**
 * Draw why cells are masked: strokes for a later position, dots for padding, a grid for an edited
 * mask, strokes the other way outside the window. One path a reason, however many cells.
 * @param masked codes by cell
 */
export function drawPattern(
  pen: CanvasRenderingContext2D,
  plot: Plot,
  site: Shape,
  masked: Codes,
  palette: Palette,
) {
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, plot.width, plot.height);
  pen.clip();
  for (const code of MASK_CODES) {
    if (!masked.includes(code)) continue;
    const { cells, left } = maskedPath(plot, site, masked, code);
    pen.save();
    pen.clip(cells);
    pen.strokeStyle = pen.fillStyle = maskColour(palette.stroke, code);
    pen.lineWidth = 1;
    if (code === PADDING) drawDots(pen, plot, left);
    else drawStrokes(pen, plot, { falling: code !== OUTSIDE, rising: code !== LATER });
    pen.restore();
  }
  pen.restore();
}

/**
 * All cells masked for one reason as one path, a rectangle a run, and where the leftmost of them
 * begins.
 */
function maskedPath(plot: Plot, site: Shape, masked: Codes, code: number) {
  const size = cellSize(plot);
  const cells = new Path2D();
  let left = Infinity;
  let cell = masked.indexOf(code); // faster than looking at each
  while (cell >= 0) {
    const query = Math.floor(cell / site.keys);
    const [first, end] = [cell, (query + 1) * site.keys];
    while (cell < end && masked[cell] === code) cell += 1;
    const x = xOf(plot, first - query * site.keys);
    cells.rect(x, yOf(plot, query), (cell - first) * size.width, size.height);
    left = Math.min(left, x);
    cell = masked.indexOf(code, cell);
  }
  return { cells, left };
}

/** Diagonal strokes over the whole plot, in one direction or both. */
function drawStrokes(
  pen: CanvasRenderingContext2D,
  { width, height }: Plot,
  { falling, rising }: { falling: boolean; rising: boolean },
) {
  pen.beginPath();
  for (let from = -height; from < width; from += PITCH) {
    if (falling) {
      pen.moveTo(from, height);
      pen.lineTo(from + height, 0);
    }
    if (rising) {
      pen.moveTo(from, 0);
      pen.lineTo(from + height, height);
    }
  }
  pen.stroke();
}

/**
 * A lattice of dots over the plot from `left` on: padding is at the end.
 * @param left px
 */
function drawDots(pen: CanvasRenderingContext2D, { width, height }: Plot, left: number) {
  const first = (Math.max(Math.floor(left / PITCH), 0) + 1 / 2) * PITCH;
  pen.beginPath();
  for (let y = PITCH / 2; y < height; y += PITCH) {
    for (let x = first; x < width; x += PITCH) pen.rect(x, y, 2, 2);
  }
  pen.fill();
}
