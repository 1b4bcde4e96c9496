import { maskColour, type Palette } from "../../page/js/palette.ts";
import { LATER, MASK_REASONS, OUTSIDE, PADDING, UNMASKED } from "../../trace/js/look.ts";
import type { Site } from "../../trace/js/trace.ts";
import { cellSize, type Plot, xOf, yOf } from "./geometry.ts";

export type Shape = Pick<Site, "queries" | "keys">;

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
  masked: ArrayLike<number>,
  palette: Palette,
) {
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, plot.width, plot.height);
  pen.clip();
  for (const code of MASK_CODES) {
    const { cells, left } = maskedPath(plot, site, masked, code);
    if (left === Infinity) continue;
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
 * begins; infinity where there are none.
 */
function maskedPath(plot: Plot, site: Shape, masked: ArrayLike<number>, code: number) {
  const size = cellSize(plot);
  const cells = new Path2D();
  let left = Infinity;
  for (let query = 0; query < site.queries; query += 1) {
    const start = query * site.keys;
    for (let key = 0; key < site.keys; key += 1) {
      if (masked[start + key] !== code) continue;
      const first = key;
      while (key + 1 < site.keys && masked[start + key + 1] === code) key += 1;
      const x = xOf(plot, first);
      cells.rect(x, yOf(plot, query), (key + 1 - first) * size.width, size.height);
      left = Math.min(left, x);
    }
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
