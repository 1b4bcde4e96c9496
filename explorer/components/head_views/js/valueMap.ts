import { drawn } from "../../dom/js/drawing.ts";
import { assign, element, type Part, positionRectangle, write } from "../../dom/js/element.ts";

import { shortNumber, signedNumber } from "../../dom/js/numbers.ts";

import { createAxes } from "../../map/js/axes.ts";
import { bitmap, paint } from "../../map/js/bitmap.ts";
import { cellAt, cellSize, type Geometry } from "../../map/js/geometry.ts";
import { paintPattern } from "../../map/js/map.ts";
import { createRowCover } from "../../map/js/rowCover.ts";
import { createSpace } from "../../map/js/space.ts";
import { colourAt, inkOn } from "../../page/js/palette.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { mapTitle, siteOf } from "../../trace/js/stepState.ts";
import type { Cell, Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createColourBar, rampOf, type ValueScale } from "./colourBar.ts";
import type { ViewFrame } from "./viewFrame.ts";

/** The differences of a head, (queries × keys), from −1 to 1. */
export type HeadDifferences = (layer: number, head: number) => Float32Array;

/** The differences of two sides, and what stands beside them. */
export interface Differences {
  read: (site: Site) => HeadDifferences | null;
  facts: () => Record<string, string>; // for the heading
  /** the label of a position of both sides */
  tokenOf: (side: "queryTokens" | "keyTokens", position: number) => string;
  isRemoved: () => boolean; // the head of the second side
}

export type Cells = ValueScale & { values: Float32Array; tone: Float32Array; masked: Uint8Array };

/** What the sentences of a map are read from. */
interface MapSource {
  context: TraceContext;
  frame: ViewFrame;
  differences: Differences;
}

const PRINTED_CELL = 34; // px; cells of this width hold a readable number

/**
 * A map of values that are no weights, with its own scale and title.
 * @param context of a trace, whose site, head, step and axes are used
 */
export function createValueMap(
  context: TraceContext,
  frame: ViewFrame,
  differences: Differences,
): Part {
  const title = element("h2", { class: "map-title", testid: "pair-title" });
  const base = element("canvas", { class: "base" });
  const pattern = drawn("svg", { class: "pattern" });
  const printed = element("div", { class: "printed", "aria-hidden": "true" });
  const box = element("div", { class: "map value-map", role: "img", testid: "pair" });
  const bar = createColourBar();
  const note = element("p", { class: "value-note", testid: "pair-note" });
  const barName = element("span", { class: "bar-name" }, frame.say("pair_unit"));
  const legend = element("div", { class: "legend" }, barName, bar.element, note);
  const space = createSpace(context, box, legend, ({ height }) => height);
  const axes = createAxes(context, space);
  const cover = createRowCover(context, space);
  const clip = element("div", { class: "clip" }, cover.element);
  const overlay = element("div", { class: "overlay" }, clip);
  box.append(base, pattern, printed, overlay, axes.element);
  const heading = element("header", { class: "map-heading row wrap" }, title);
  const node = element(
    "section",
    { class: "map-panel", "aria-label": frame.say("pair_title") },
    heading,
    box,
    legend,
  );
  let heads: HeadDifferences | null = null;
  const drawTitle = () => {
    write(title, frame.say("pair_heading", { title: mapTitle(context), ...differences.facts() }));
    assign(title, "title", title.textContent); // a long one is cut off
  };
  const drawCells = (geometry: Geometry) => {
    const site = siteOf(context);
    heads = differences.read(site);
    box.classList.toggle("empty", !heads);
    const cells = cellsOf(context, heads);
    const { queries, keys } = site;
    paint(base, bitmap({ ...context.palette, ramp: cells.ramp }, { ...cells, queries, keys }));
    for (const node of [base, clip])
      positionRectangle(node, geometry.left, geometry.top, geometry.width, geometry.height);
    paintPattern(context, pattern, geometry, cells.masked);
    printValues(printed, geometry, site.keys, cells);
    bar.draw(cells);
  };
  /** Apart from the cells, which a step does not change. */
  const drawNote = () => {
    const own = differences.read(siteOf(context));
    write(note, noteOf({ context, frame, differences }, own, cellsOf(context, own)));
    assign(box, "aria-label", `${title.textContent}. ${note.textContent}`);
  };
  box.addEventListener("pointermove", (event) => {
    const cell = cellUnder(context, box, space.geometry(), event);
    assign(box, "title", cell && cellTitle({ context, frame, differences }, heads, cell));
  });
  const pictures = [space.fit, space.view(drawCells), cover.draw, ...axes.views];
  return { element: node, views: [drawTitle, drawNote], pictures };
}

/** The values of the selected head and how they are drawn. */
function cellsOf(context: TraceContext, heads: HeadDifferences | null): Cells {
  const { layer, head } = context.state;
  const site = siteOf(context);
  const values = heads?.(layer, head) ?? new Float32Array(site.queries * site.keys);
  const tone = values.map((value) => (value + 1) / 2);
  // A cell that an intervention unmasked has a value, although the original masks it.
  const masked = site.masked(layer, head).map((code, cell) => (values[cell] === 0 ? code : 0));
  return { values, tone, masked, signed: true, most: 1, ramp: rampOf(context.palette, true) };
}

/** The numbers in their cells, where these are large enough. */
function printValues(
  parent: HTMLElement,
  geometry: Geometry,
  keys: number,
  { values, tone, masked, ramp }: Cells,
) {
  const { width, height } = cellSize(geometry);
  parent.replaceChildren();
  if (width < PRINTED_CELL || height < 16) return;
  positionRectangle(parent, geometry.left, geometry.top, geometry.width, geometry.height);
  values.forEach((value, cell) => {
    if (masked[cell] || Math.abs(value) < 0.02) return;
    const node = element("span", {}, printedNumber(value));
    node.style.color = inkOn(colourAt(ramp, tone[cell]));
    positionRectangle(node, (cell % keys) * width, Math.floor(cell / keys) * height, width, height);
    node.style.lineHeight = `${height}px`;
    parent.append(node);
  });
}

/** A number without a leading zero. */
function printedNumber(value: number) {
  const text = shortNumber(Math.abs(value)).replace(/^0\./, ".");
  const sign = value < 0 ? "−" : value > 0 ? "+" : "";
  return sign + text;
}

/** The largest value of the rows of this head that are shown, as a sentence. */
function noteOf(
  { context, frame, differences }: MapSource,
  heads: HeadDifferences | null,
  { values }: Cells,
) {
  if (!heads) return frame.say("pair_none");
  if (differences.isRemoved()) return frame.say("pair_removed");
  const site = siteOf(context);
  const shown = values.subarray(0, visibleRows(context) * site.keys);
  let best = 0;
  shown.forEach((value, cell) => {
    if (Math.abs(value) > Math.abs(values[best])) best = cell;
  });
  if (values[best] === 0) return shown.length < values.length ? "" : frame.say("pair_equal");
  return frame.say("pair_note", {
    value: signedNumber(values[best]),
    query: differences.tokenOf("queryTokens", Math.floor(best / site.keys)),
    key: differences.tokenOf("keyTokens", best % site.keys),
  });
}

/** The cell under the pointer; null beside the cells. */
function cellUnder(
  context: TraceContext,
  box: HTMLElement,
  geometry: Geometry | null,
  { clientX, clientY }: PointerEvent,
): Cell | null {
  if (!geometry) return null;
  const { left, top } = box.getBoundingClientRect();
  const cell = cellAt(geometry, clientX - left, clientY - top);
  return cell && cell.query < visibleRows(context) ? cell : null;
}

/** The title of a cell of the map. */
function cellTitle(
  { context, frame, differences }: MapSource,
  heads: HeadDifferences | null,
  cell: Cell,
) {
  const site = siteOf(context);
  const { layer, head } = context.state;
  const value = heads?.(layer, head)[cell.query * site.keys + cell.key];
  return frame.say("pair_cell", {
    query: differences.tokenOf("queryTokens", cell.query),
    key: differences.tokenOf("keyTokens", cell.key),
    value: value === undefined ? "–" : value.toFixed(4),
  });
}
