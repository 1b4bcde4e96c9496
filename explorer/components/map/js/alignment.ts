import { drawn, redraw } from "../../dom/js/drawing.ts";
import { element, type Part, positionRectangle } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { css } from "../../page/js/palette.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { TIMINGS } from "../../trace/js/look.ts";
import { rowCodes, shownHead, siteOf, type TraceOnScreen } from "../../trace/js/stepState.ts";
import type { Alignment } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { cellSize, type Geometry, type Plot, xOf, yOf } from "./geometry.ts";

export type Point = [number, number];

const LINK_INSET = 4; // px between a mark and the edge of its cell
const SMALL_LINK = 14; // px; corners of a smaller cell would be dots
const ALIGNMENTS: Alignment[] = ["off", ...TIMINGS];

/** The choice over the map: from which row the target tokens are linked to the source. */
export function createAlignment(context: TraceContext): Part {
  const { say } = context;
  const group = { names: ALIGNMENTS, prefix: "alignment", label: "alignment", small: true };
  const radios = createRadios(say, group, (name) => context.set({ alignment: name as Alignment }));
  const about = { class: "alignment", title: say("alignment_title") };
  const node = element("div", about, radios.element);
  const draw = () => {
    node.hidden = context.state.site !== "cross";
    radios.check(context.state.alignment);
  };
  return { element: node, views: [draw] };
}

/** The last links of each context. */
const known: WeakMap<object, { causes: unknown[]; rows: Int32Array }> = new WeakMap();

/**
 * The source position to which each row on screen links its token, −1 = none: the largest weight on
 * a content token, as in `core/alignment.py`.
 * @returns by row; empty where no alignment is shown
 */
export function linksOf(context: TraceOnScreen): Int32Array {
  const { state, trace } = context;
  if (state.site !== "cross" || state.alignment === "off") return new Int32Array(0);
  const causes = [trace, state.layer, shownHead(state), state.alignment];
  const before = known.get(context);
  if (before?.causes.every((cause, index) => cause === causes[index])) return before.rows;
  const rows = findLinks(context);
  known.set(context, { causes, rows });
  return rows;
}

/** The links, computed anew. */
function findLinks(context: TraceOnScreen) {
  const { trace, state } = context;
  const { source, outputs } = trace.header.content;
  const site = siteOf(context);
  return Int32Array.from({ length: trace.steps }, (_, row) => {
    if (!outputs[state.alignment === "input" ? row - 1 : row]) return -1;
    const weights = rowCodes(site, state.layer, shownHead(state), row);
    let best = -1;
    for (let key = 0; key < weights.length; key += 1) {
      if (source[key] && (best < 0 || weights[key] > weights[best])) best = key;
    }
    return best;
  });
}

/** The source position to which one row links its token; −1 = none. */
export function linkAt(context: TraceOnScreen, row: number) {
  return row < visibleRows(context) ? (linksOf(context)[row] ?? -1) : -1;
}

/** The shown links in Pharaoh format: source-target, counted over content tokens. */
export function pharaohText(context: TraceOnScreen) {
  const { source, outputs } = context.trace.header.content;
  const contentBefore = (flags: boolean[], position: number) =>
    flags.slice(0, position).filter(Boolean).length;
  const shift = context.state.alignment === "input" ? 1 : 0;
  const links = Array.from(linksOf(context).subarray(0, visibleRows(context)));
  return links
    .flatMap((key, row) =>
      key < 0 ? [] : [`${contentBefore(source, key)}-${contentBefore(outputs, row - shift)}`],
    )
    .join(" ");
}

/**
 * The mark of a linked cell: four corners of a frame, which leave space for a printed weight and
 * differ from a ring (gold) and a whole frame (current row, hovered cell).
 * @param cell in any unit
 * @param small whether the frame is closed, for a small cell
 * @returns lines of points from the top left corner of the cell
 */
export function cornersOf(
  { width, height }: { width: number; height: number },
  inset: number,
  small: boolean,
): Point[][] {
  const [left, top, right, bottom] = [inset, inset, width - inset, height - inset];
  const arm = small ? 0.5 : 0.25;
  const [across, down] = [(right - left) * arm, (bottom - top) * arm];
  const corner = (x: number, y: number, toX: number, toY: number): Point[] => [
    [x + toX * across, y],
    [x, y],
    [x, y + toY * down],
  ];
  return [
    corner(left, top, 1, 1),
    corner(right, top, -1, 1),
    corner(right, bottom, -1, -1),
    corner(left, bottom, 1, -1),
  ];
}

/** Mark the linked cells. */
export function drawLinks(context: TraceContext, drawing: SVGElement, geometry: Geometry) {
  positionRectangle(drawing, geometry.left, geometry.top, geometry.width, geometry.height);
  redraw(drawing, linkMarks(context, geometry));
}

/** The marks of linked cells, ink on paper, so that they are visible on every weight. */
export function linkMarks(context: TraceContext, plot: Plot, rows?: number) {
  const size = cellSize(plot);
  const smaller = Math.min(size.width, size.height);
  const lines = cornersOf(size, Math.min(smaller / 10, LINK_INSET), smaller < SMALL_LINK);
  const marks = Array.from(linksOf(context).subarray(0, rows)).flatMap((key, row) => {
    const [left, top] = [xOf(plot, key), yOf(plot, row)];
    const strokes = lines.map((line) => line.map(([x, y]) => `${x + left} ${y + top}`).join("L"));
    return key < 0 ? [] : strokes.map((stroke) => `M${stroke}`);
  });
  if (!marks.length) return [];
  const { paper, ink } = context.palette;
  return [
    [paper, 4.5] as const, // px
    [ink, 2] as const,
  ].map(([colour, width]) => {
    const stroke = { stroke: css(colour), "stroke-width": Math.min(width, smaller / 3) };
    return drawn("path", { d: marks.join(""), fill: "none", ...stroke });
  });
}
