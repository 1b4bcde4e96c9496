import { drawn } from "../../dom/js/drawing.ts";
import { css, maskColour, type Palette } from "../../page/js/palette.ts";
import { LATER, MASK_REASONS, OUTSIDE, PADDING, UNMASKED } from "../../trace/js/look.ts";
import type { Site } from "../../trace/js/trace.ts";
import { cellSize, type Plot, xOf, yOf } from "./geometry.ts";

export type Shape = Pick<Site, "queries" | "keys">;

type Codes = Uint8Array | number[]; // by cell

/** The codes of the reasons why a cell is masked. */
export const MASK_CODES = [...MASK_REASONS.keys()].filter((code) => code !== UNMASKED);

/** px of a cell above which there are hairlines between cells */
export const HAIRLINED = 12;

const PITCH = 7; // px between two strokes

/** The patterns of masked cells, which a drawing refers to. */
export function definitions(palette: Palette, codes = MASK_CODES) {
  const patterns = codes.map((code) => {
    const colour = maskColour(palette.stroke, code);
    const size = { width: PITCH, height: PITCH, patternUnits: "userSpaceOnUse" };
    const strokes = [code !== OUTSIDE && "M-1 8L8 -1", code !== LATER && "M-1 -1L8 8"].filter(
      Boolean,
    );
    const mark =
      code === PADDING
        ? drawn("rect", { x: 2, y: 2, width: 2, height: 2, fill: colour })
        : drawn("path", { d: strokes.join(""), stroke: colour, fill: "none" });
    return drawn("pattern", { id: patternName(palette, code), ...size }, mark);
  });
  return drawn("defs", {}, ...patterns);
}

/** It names the colour, too: beside a map on screen there may be a figure to save, dark on white. */
function patternName(palette: Palette, code: number) {
  return `masked-${code}${maskColour(palette.stroke, code).replace(/\D+/g, "-")}`;
}

/** What masked cells are filled with, one over the other: the background, and the pattern. */
export function maskedFills(palette: Palette, code: number) {
  return [maskColour(palette.masked, code), `url(#${patternName(palette, code)})`];
}

/**
 * Why cells are masked: strokes for a later position, dots for padding, a grid for an edited mask,
 * strokes the other way outside the window. One path a reason, however many cells.
 * @param masked codes by cell
 */
export function maskedPaths(palette: Palette, plot: Plot, site: Shape, masked: Codes) {
  return MASK_CODES.filter((code) => masked.includes(code)).map((code) => {
    const [, fill] = maskedFills(palette, code);
    return drawn("path", { d: maskedPath(plot, site, masked, code), fill });
  });
}

/** The lines between cells, so that two neighbours of one weight are seen as two. */
export function hairlines(palette: Palette, plot: Plot, { queries, keys }: Shape) {
  const size = cellSize(plot);
  if (Math.min(size.width, size.height) <= HAIRLINED) return [];
  const [top, left] = [yOf(plot, 0), xOf(plot, 0)];
  const [height, width] = [queries * size.height, keys * size.width];
  const down = Array.from(
    { length: keys - 1 },
    (_, key) => `M${xOf(plot, key + 1)} ${top}v${height}`,
  );
  const across = Array.from(
    { length: queries - 1 },
    (_, query) => `M${left} ${yOf(plot, query + 1)}h${width}`,
  );
  const looks = { fill: "none", "stroke-width": 1, class: "hairlines" };
  const d = [...down, ...across].join("");
  return d ? [drawn("path", { ...looks, d, stroke: css(palette.paper) })] : [];
}

/** All cells masked for one reason as one path, a rectangle a run. */
function maskedPath(plot: Plot, site: Shape, masked: Codes, code: number) {
  const size = cellSize(plot);
  const runs: string[] = [];
  let cell = masked.indexOf(code); // faster than looking at each
  while (cell >= 0) {
    const query = Math.floor(cell / site.keys);
    const [first, end] = [cell, (query + 1) * site.keys];
    while (cell < end && masked[cell] === code) cell += 1;
    const width = (cell - first) * size.width;
    runs.push(
      `M${xOf(plot, first - query * site.keys)} ${yOf(plot, query)}h${width}v${size.height}h${-width}z`,
    );
    cell = masked.indexOf(code, cell);
  }
  return runs.join("");
}
