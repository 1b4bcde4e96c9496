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
import { labelOf } from "../../trace/js/label.ts";
import { mapTitle, shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createColourBar, rampOf, type ValueScale } from "./colourBar.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { HeadValues } from "./viewPayload.ts";

/** What the values are. */
export interface Kind {
  name: "norms" | "pair"; // prefix of the sentences
  read: (site: Site) => HeadValues | null;
  signed: boolean;
  facts?: () => Record<string, string>; // for the heading
  /** a label, where it is not that of the context */
  tokenOf?: (side: "queryTokens" | "keyTokens", position: number) => string;
}

export type Cells = ValueScale & { values: Float32Array; tone: Float32Array; masked: Uint8Array };

const PRINTED_CELL = 34; // px; cells of this width hold a readable number

/**
 * A map of values that are no weights, with its own scale and title.
 * @param context of a trace, whose site, head, step and axes are used
 */
export function createValueMap(context: TraceContext, frame: ViewFrame, kind: Kind): Part {
  const { name } = kind;
  const title = element("h2", { class: "map-title", testid: `${name}-title` });
  const base = element("canvas", { class: "base" });
  const pattern = element("canvas", { class: "pattern" });
  const printed = element("div", { class: "printed", "aria-hidden": "true" });
  const box = element("div", { class: "map value-map", role: "img", testid: name });
  const bar = createColourBar();
  const note = element("p", { class: "value-note", testid: `${name}-note` });
  const barName = element("span", { class: "bar-name" }, frame.say(`${name}_unit`));
  const legend = element("div", { class: "legend" }, barName, bar.element, note);
  const space = createSpace(context, box, legend, ({ height }) => height);
  const axes = createAxes(context, space);
  const cover = createRowCover(context, space);
  const clip = element("div", { class: "clip" }, cover.element);
  const overlay = element("div", { class: "overlay" }, clip);
  box.append(base, pattern, printed, overlay, axes.element);
  const heading = element("header", { class: "map-heading" }, title);
  const node = element(
    "section",
    { class: "map-panel", "aria-label": frame.say(`${name}_title`) },
    heading,
    box,
    legend,
  );
  let heads: HeadValues | null = null;
  const drawTitle = () => {
    write(title, frame.say(`${name}_heading`, { title: mapTitle(context), ...kind.facts?.() }));
    assign(title, "title", title.textContent); // a long one is cut off
  };
  const drawCells = (geometry: Geometry) => {
    const site = siteOf(context);
    heads = kind.read(site);
    box.classList.toggle("empty", !heads);
    const cells = cellsOf(context, heads, kind);
    paint(base, bitmap({ ...context.palette, ramp: cells.ramp }, cells.tone, cells.masked, site));
    for (const node of [base, clip])
      positionRectangle(node, geometry.left, geometry.top, geometry.width, geometry.height);
    paintPattern(context, pattern, geometry, cells.masked);
    printValues(printed, geometry, site.keys, cells);
    bar.draw(cells);
  };
  /** Apart from the cells, which a step does not change. */
  const drawNote = () => {
    const own = kind.read(siteOf(context));
    write(note, noteOf(context, frame, kind, own, cellsOf(context, own, kind)));
    assign(box, "aria-label", `${title.textContent}. ${note.textContent}`);
  };
  box.addEventListener("pointermove", (event) => {
    const geometry = space.geometry();
    assign(box, "title", geometry && cellTitle(context, frame, kind, box, geometry, heads, event));
  });
  const views = [drawTitle, space.fit, space.view(drawCells), drawNote, cover.draw, ...axes.views];
  return { element: node, views };
}

/** The values of the selected head and how they are drawn. */
function cellsOf(context: TraceContext, heads: HeadValues | null, { signed }: Kind): Cells {
  const { layer, head } = context.state;
  const site = siteOf(context);
  const most = heads?.largest ?? 0;
  const values = heads?.of(layer, head) ?? new Float32Array(site.queries * site.keys);
  const tone = values.map((value) => {
    const share = most ? value / most : 0;
    return signed ? (share + 1) / 2 : share;
  });
  // A cell that an intervention unmasked has a value, although the original masks it.
  const masked = site.masked(layer, head).map((code, cell) => (values[cell] === 0 ? code : 0));
  return { values, tone, masked, signed, most, ramp: rampOf(context.palette, signed) };
}

/** The numbers in their cells, where these are large enough. */
function printValues(
  parent: HTMLElement,
  geometry: Geometry,
  keys: number,
  { values, tone, masked, ramp, most, signed }: Cells,
) {
  const { width, height } = cellSize(geometry);
  parent.replaceChildren();
  if (width < PRINTED_CELL || height < 16) return;
  positionRectangle(parent, geometry.left, geometry.top, geometry.width, geometry.height);
  values.forEach((value, cell) => {
    if (masked[cell] || Math.abs(value) < Math.max(most * 0.02, 0.005)) return;
    const node = element("span", {}, printedNumber(value, signed));
    node.style.color = inkOn(colourAt(ramp, tone[cell]));
    positionRectangle(node, (cell % keys) * width, Math.floor(cell / keys) * height, width, height);
    node.style.lineHeight = `${height}px`;
    parent.append(node);
  });
}

/** A number without a leading zero. */
function printedNumber(value: number, signed: boolean) {
  const text = shortNumber(Math.abs(value)).replace(/^0\./, ".");
  const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
  return sign + text;
}

/** The largest value of the rows of this head that are shown, as a sentence. */
function noteOf(
  context: TraceContext,
  frame: ViewFrame,
  kind: Kind,
  heads: HeadValues | null,
  { values, most }: Cells,
) {
  const { name, signed } = kind;
  if (!heads) return frame.say(`${name}_none`);
  if (!most) return frame.say(`${name}_zero`);
  const site = siteOf(context);
  const shown = values.subarray(0, visibleRows(context) * site.keys);
  let best = 0;
  shown.forEach((value, cell) => {
    if (Math.abs(value) > Math.abs(values[best])) best = cell;
  });
  const facts = { strongest: shownName(context, heads.strongest.layer, heads.strongest.head) };
  if (values[best] === 0)
    return shown.length < values.length ? "" : frame.say(`${name}_elsewhere`, facts);
  return frame.say(`${name}_note`, {
    ...facts,
    value: signed ? signedNumber(values[best]) : shortNumber(values[best]),
    query: labelAt(context, kind, "queryTokens", Math.floor(best / site.keys)),
    key: labelAt(context, kind, "keyTokens", best % site.keys),
  });
}

/** The label of a query or a key. */
function labelAt(
  context: TraceContext,
  { tokenOf }: Kind,
  side: "queryTokens" | "keyTokens",
  position: number,
) {
  return tokenOf ? tokenOf(side, position) : labelOf(siteOf(context)[side][position]);
}

/** The title of the cell under the pointer; null beside the cells. */
function cellTitle(
  context: TraceContext,
  frame: ViewFrame,
  kind: Kind,
  box: HTMLElement,
  geometry: Geometry,
  heads: HeadValues | null,
  event: PointerEvent,
) {
  const outer = box.getBoundingClientRect();
  const cell = cellAt(geometry, event.clientX - outer.left, event.clientY - outer.top);
  if (!cell || cell.query >= visibleRows(context)) return null;
  const site = siteOf(context);
  const { layer, head } = context.state;
  const value = heads?.of(layer, head)[cell.query * site.keys + cell.key];
  return frame.say(`${kind.name}_cell`, {
    query: labelAt(context, kind, "queryTokens", cell.query),
    key: labelAt(context, kind, "keyTokens", cell.key),
    value: value === undefined ? "–" : value.toFixed(4),
  });
}
