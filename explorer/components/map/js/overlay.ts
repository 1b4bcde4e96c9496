import { element, populate, positionRectangle, write } from "../../dom/js/element.ts";
import { OUTLINE } from "../../dom/js/lengths.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { colourAt, inkOn } from "../../page/js/palette.ts";
import { weightsHidden } from "../../trace/js/guess.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import {
  currentRow,
  isAsked,
  rowCodes,
  rowOf,
  shownHead,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { cellSize, type Geometry, xOf, yOf } from "./geometry.ts";
import { createPairCover } from "./pairFilter.ts";
import { createRowCover } from "./rowCover.ts";
import type { Space } from "./space.ts";

export type Size = { width: number; height: number };

interface OverlayParts {
  outline: HTMLElement;
  keyMark: HTMLElement;
  cellMark: HTMLElement;
  weights: HTMLElement;
  removed: HTMLElement;
  clip: HTMLElement;
  tick: HTMLElement;
}

const PRINTED_TYPE = {
  // px and digits of the printed weights, the best that fits its cell
  desk: [{ font: 12, digits: 2 }],
  projector: [
    { font: 18, digits: 2 },
    { font: 16, digits: 2 },
    { font: 14, digits: 2 },
    { font: 14, digits: 1 },
  ],
};
const SMALLEST_PRINTED = [0.5, 0.05, 0.005]; // by digits; a smaller weight is a dot
const THIN_ROW = 12; // px

/** What a step changes on the large map: outline, printed weights, cover, hovered key. */
export function createOverlay(context: TraceContext, space: Space) {
  const outline = element("div", { class: "outline", testid: "current-row" });
  const rowCover = createRowCover(context, space);
  const keyMark = element("div", { class: "key-mark" });
  const cellMark = element("div", { class: "cell-mark" });
  const weights = element("div", { class: "weights", testid: "row-weights" });
  const removed = element(
    "div",
    { class: "crossed", testid: "removed-note" },
    element("span", { class: "cover-text" }),
  );
  const pairCover = createPairCover(context, space);
  const over = [
    ...pairCover.elements,
    rowCover.element,
    outline,
    weights,
    keyMark,
    cellMark,
    removed,
  ];
  const clip = element("div", { class: "clip" }, ...over);
  const tick = element("div", { class: "row-tick" });
  const node = element("div", { class: "overlay" }, clip, tick);
  const parts = { outline, keyMark, cellMark, weights, removed, clip, tick };
  const views = [drawRow, drawHover, printWeights].map((draw) =>
    space.view((geometry) => draw(context, geometry, parts)),
  );
  return { element: node, views: [...views, rowCover.draw, pairCover.draw] };
}

/** The outline of the current row, and its tick beside the map. */
function drawRow(context: TraceContext, geometry: Geometry, parts: OverlayParts) {
  const site = siteOf(context);
  const row = currentRow(context);
  const size = cellSize(geometry);
  positionRectangle(parts.clip, geometry.left, geometry.top, geometry.width, geometry.height);
  markRemoved(context, parts.removed);
  parts.outline.hidden = parts.tick.hidden = row < 0;
  const [left, right] = [xOf(geometry, 0), xOf(geometry, site.keys)];
  if (row < 0) return;
  const top = yOf(geometry, row);
  const edge = size.height < THIN_ROW ? OUTLINE : 0; // around a thin row, which it would cover
  const first = Math.max(top - edge, Math.min(top, 0)); // inside the map, which cuts it off
  const end = top + size.height;
  const last = Math.min(end + edge, Math.max(end, geometry.height));
  positionRectangle(parts.outline, left, first, right - left, last - first);
  const middle = geometry.top + top + size.height / 2;
  parts.tick.hidden = middle < geometry.top || middle > geometry.top + geometry.height;
  parts.tick.style.transform = `translate(${geometry.left - 7}px, ${middle - 7}px)`;
}

/** The column of the hovered key and the hovered cell; of a query alone its row. */
function drawHover(context: TraceContext, geometry: Geometry, { keyMark, cellMark }: OverlayParts) {
  const { width, height } = cellSize(geometry);
  const { query = null, key = null } = context.state.hover ?? {};
  const { queries, keys } = siteOf(context);
  keyMark.hidden = key === null;
  cellMark.hidden = query === null;
  const [left, top] = [xOf(geometry, key ?? 0), yOf(geometry, 0)];
  positionRectangle(keyMark, left, top, width, yOf(geometry, queries) - top);
  const across = key === null ? xOf(geometry, keys) - left : width;
  positionRectangle(cellMark, left, yOf(geometry, query ?? 0), across, height);
}

/** The weights of the current row in its cells, where these are large enough. */
function printWeights(
  context: TraceContext,
  geometry: Geometry,
  { weights: parent }: OverlayParts,
) {
  const { state, palette } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  const size = cellSize(geometry);
  const type = printedType(state.projector, size);
  parent.hidden = row < 0 || row >= site.queries || weightsHidden(context) || !type;
  if (parent.hidden || !type) return;
  const { weights, masked } = rowOf(site, state.layer, shownHead(state), row);
  const tone = tones(
    rowCodes(site, state.layer, shownHead(state), row),
    site.keys,
    scaleOf(state, site),
  );
  const cells = populate(parent, site.keys, () => element("span"));
  parent.style.transform = `translate(${xOf(geometry, 0)}px, ${yOf(geometry, row)}px)`;
  parent.style.height = `${size.height}px`;
  parent.style.fontSize = `${type.font}px`;
  weights.forEach((weight, key) => {
    const small = weight < SMALLEST_PRINTED[type.digits];
    const printed = small ? "·" : shortWeight(weight, type.digits);
    write(
      cells[key],
      masked[key] ? "" : isAsked(context, "weight", { query: row, key }) ? ASKED : printed,
    );
    cells[key].style.width = `${size.width}px`;
    cells[key].style.color = inkOn(colourAt(palette.ramp, tone[key]));
  });
}

/**
 * The type in which a weight fits into a cell; undefined where none does.
 * @param size of a cell
 */
function printedType(projector: boolean, { width, height }: Size) {
  const types = PRINTED_TYPE[projector ? "projector" : "desk"];
  return types.find(
    ({ font, digits }) => width >= font * (digits * 0.64 + 0.62) && height >= font + 4, // digits, point, margin
  );
}

/**
 * Cross out the map of a removed head and say how its output is replaced: it adds nothing of its
 * own, so its weights are not drawn.
 */
function markRemoved(context: TraceContext, node: HTMLElement) {
  const { state } = context;
  const how = siteOf(context).removed(state.layer, shownHead(state));
  node.hidden = how === null;
  write(node.children[0], how ? context.say(`removed_${how}`) : "");
}
