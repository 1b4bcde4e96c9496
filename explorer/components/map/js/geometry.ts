import { context2d } from "../../dom/js/element.ts";
import { MARK_WIDTH, SMALL_PROJECTOR_TYPE, SMALL_TYPE } from "../../dom/js/lengths.ts";
import { BYTE, labelOf, markOf } from "../../trace/js/label.ts";
import type { Site, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { wholeMap, type Zoom } from "../../trace/js/zoom.ts";

export type Range = [number, number]; // of positions; a cell reaches 0.5 to either side

/** Where the cells lie, px. */
export interface Plot {
  width: number;
  height: number;
  x: Range; // shown keys
  y: Range; // shown queries
}

/** Geometry of the large map: plot, type size, space for labels and their spacing; px. */
export type Geometry = Plot & {
  box: { width: number; height: number };
  font: number;
  left: number;
  top: number;
  queryRoom: number;
  predictedRoom: number;
  keyRoom: number;
  rotated: boolean;
  keySpacing: number;
  querySpacing: number;
};

const MAP_TYPE = { desk: SMALL_TYPE, projector: SMALL_PROJECTOR_TYPE };
const LARGEST_CELL = 150;
const SLANTED = 1.25; // space of a slanted label, in heights of its type
const SLACK = 1.5; // large cells matter more than square ones
const BYTE_TYPE = 'ui-monospace, "DejaVu Sans Mono", monospace'; // and of bytes,
const BYTE_SIZE = 0.92; // as in the style sheet
const NARROW_CELL = 26;
const ROUNDING = 1e-6; // cells; an edge that is as near to a cell's is the cell's
export const SMALLEST_AXIS = 96; // px the title of an axis needs

/** Pens by font: a new canvas takes a millisecond. */
const pens: Map<string, CanvasRenderingContext2D> = new Map();

/**
 * Measures text in a font.
 * @param font as CSS has it
 */
export function measuringPen(font: string) {
  const pen = pens.get(font) ?? context2d(document.createElement("canvas"));
  pen.font = font;
  pens.set(font, pen);
  return pen;
}

/** Width of `text`, px. */
export function textWidth(pen: CanvasRenderingContext2D, text: string) {
  return pen.measureText(text).width;
}

/** Width of a token with its mark, px. */
export function tokenWidth(pen: CanvasRenderingContext2D, token: string) {
  if (BYTE.test(token)) return byteWidth(pen, labelOf(token));
  return textWidth(pen, labelOf(token)) + (markOf(token) ? MARK_WIDTH : 0);
}

/** The size of the type of a pen, px. */
function typeOf(pen: CanvasRenderingContext2D) {
  return parseFloat(/[\d.]+px/.exec(pen.font)?.[0] ?? String(SMALL_TYPE));
}

/** Width of the label of a byte, px. */
function byteWidth(pen: CanvasRenderingContext2D, text: string) {
  const type = pen.font;
  pen.font = `${Math.max(typeOf(pen) * BYTE_SIZE, SMALL_TYPE)}px ${BYTE_TYPE}`;
  const width = textWidth(pen, text);
  pen.font = type;
  return width;
}

/** Width of the widest label, px. */
export function widest(pen: CanvasRenderingContext2D, tokens: string[]) {
  let width = 0;
  for (const token of new Set(tokens)) width = Math.max(width, tokenWidth(pen, token));
  return width;
}

/** The width a cell needs so that the labels of no two neighbours touch, px. */
function levelSpacing(pen: CanvasRenderingContext2D, tokens: string[]) {
  const known = new Map([...new Set(tokens)].map((token) => [token, tokenWidth(pen, token)]));
  const widths = tokens.map((token) => known.get(token) ?? 0);
  return widths.reduce(
    (most, width, index) => Math.max(most, (width + (widths[index - 1] ?? 0)) / 2),
    0,
  );
}

/**
 * Rows and columns of a thumbnail that is large enough for every attention of a trace: all are
 * drawn in one size, so that nothing moves from one to another.
 */
export function sharedShape({ sites }: Pick<Trace, "sites">) {
  const all = Object.values(sites);
  const most = (name: "queries" | "keys" | "layers" | "heads") =>
    Math.max(1, ...all.map((site) => site[name]));
  return {
    queries: most("queries"),
    keys: most("keys"),
    layers: most("layers"),
    heads: most("heads"),
  };
}

/** The type of the labels and the space for them, px. */
interface Lettering {
  font: number;
  pen: CanvasRenderingContext2D;
  height: number; // of the box
  across: number; // of all cells at most
}

/**
 * Where everything of the large map lies within a box of `width` × `height` px. Every attention
 * of the trace, and of those shown beside it, has the same rectangle, as large as the largest of them
 * needs.
 * @param slack how much longer than wide, or wider than long, a cell may become
 */
export function createGeometry(
  context: TraceContext,
  site: Site,
  width: number,
  height: number,
  slack: number = SLACK,
): Geometry {
  const { palette, state } = context;
  const font = MAP_TYPE[state.projector ? "projector" : "desk"];
  const pen = measuringPen(`${font}px ${palette.font}`);
  const { queryRoom, predictedRoom } = roomBeside(context, pen, font, width);
  const left = queryRoom + Math.round(font * 1.6) + 8;
  const across = width - left - predictedRoom;
  const lettering = { font, pen, height, across };
  const sites = tracesOf(context).flatMap((trace) => Object.values(trace.sites));
  const largest = LARGEST_CELL * (font / MAP_TYPE.desk);
  const likelyWidth = ({ queries, keys }: Site) => {
    const tall = Math.max(((height - 5 * font) / queries) * slack, NARROW_CELL); // cells are about square
    return Math.min(across, largest * keys, tall * keys);
  };
  const likely = Math.max(...sites.map(likelyWidth));
  const keyRoom = Math.max(...sites.map((one) => keyLabels(one, likely, lettering).room));
  const top = Math.round(font * 1.7) + keyRoom;
  const room = { width: across, height: height - top - 6 };
  const cells = sites.map((one) => ({ ...one, cell: cellShape(one, room, largest, slack) }));
  const cellsWidth = Math.max(...cells.map(({ cell, keys }) => cell.width * keys), 10);
  /** Of this attention in every map, so that the labels of all stand alike. */
  const alike = [site, ...context.beside.flatMap(({ trace }) => trace.sites[site.name] ?? [])];
  const drawn = commonLabels(alike, cellsWidth, lettering); // slanted where the cells became narrower than likely
  const { rotated, spacing } =
    drawn.room <= keyRoom ? drawn : commonLabels(alike, likely, lettering);
  return {
    box: { width, height },
    font,
    left,
    top,
    width: cellsWidth,
    height: Math.max(...cells.map(({ cell, queries }) => cell.height * queries), 10),
    queryRoom,
    predictedRoom,
    keyRoom,
    rotated,
    keySpacing: spacing,
    querySpacing: font * 1.2,
    ...wholeRange(site),
  };
}

/** The trace, and those shown beside it. */
function tracesOf(context: TraceContext) {
  return [context, ...context.beside].map(({ trace }) => trace);
}

/** px left of the cells, for the queries, and right of them, for the predicted tokens. */
function roomBeside(
  context: TraceContext,
  pen: CanvasRenderingContext2D,
  font: number,
  width: number,
) {
  const traces = tracesOf(context);
  const sites = traces.flatMap((trace) => Object.values(trace.sites));
  const predicted = traces.flatMap((one) => (one.masks.length ? one.fillings : one.predicted));
  const masks = traces.some((trace) => trace.masks.length > 0);
  const predicts = predicted.length > 0 && (masks || sites.some(isDecoded));
  const forced = traces.some(({ candidates }) => candidates.flat().some((one) => one.forced));
  const mark = forced ? 1.5 * font : 0; // a pen after the token
  const queries = Math.max(...sites.map(({ queryTokens }) => widest(pen, queryTokens)));
  const title = textWidth(pen, context.say("predicts")) + font;
  const arrow = 3 * font; // before the token
  const longest = Math.max(widest(pen, predicted) + arrow + mark, title);
  return {
    queryRoom: bounded(queries + mark, width * 0.2) + 12,
    predictedRoom: predicts ? bounded(longest, width * 0.2 + font) : 8,
  };
}

function bounded(value: number, most: number) {
  return Math.ceil(Math.min(value, most));
}

/** @param most width of all cells, px */
function keyLabels(
  { keyTokens, keys }: Site,
  most: number,
  { font, pen, height, across }: Lettering,
) {
  const widestKey = widest(pen, keyTokens);
  const level = levelSpacing(pen, keyTokens) + font * 0.2;
  const crowded = level > most / keys;
  const rotated = crowded && (widestKey > 2.4 * font || across / keys > font * SLANTED);
  return {
    rotated,
    room: rotated ? bounded(widestKey * 0.85, height * 0.22) + font : font + 6,
    spacing: rotated ? font * SLANTED : crowded ? widestKey + font * 0.4 : level,
  };
}

/** What the labels of all sites have room in: slanted where those of one are. */
function commonLabels(sites: Site[], width: number, lettering: Lettering) {
  const all = sites.map((one) => keyLabels(one, width, lettering));
  const slanted = all.filter(({ rotated }) => rotated);
  const group = slanted.length ? slanted : all;
  const most = (name: "room" | "spacing") => Math.max(...group.map((one) => one[name]));
  return { rotated: slanted.length > 0, room: most("room"), spacing: most("spacing") };
}

/** Whether the rows of an attention are decoded one after the other. */
function isDecoded({ name }: Site) {
  return name !== "encoder";
}

/** The ranges that show every cell. */
export function wholeRange(site: Pick<Site, "queries" | "keys">) {
  return rangesOf(wholeMap(site));
}

/** The ranges that show a part of the map. */
export function rangesOf([first, last, firstKey, lastKey]: Zoom): { x: Range; y: Range } {
  return { x: [firstKey - 0.5, lastKey + 0.5], y: [first - 0.5, last + 0.5] };
}

/** The part of the map that ranges show, in whole cells. */
export function zoomOf({ x, y }: { x: Range; y: Range }): Zoom {
  const cells = ([start, end]: Range) => {
    const first = Math.floor(start + 0.5 + ROUNDING);
    return [first, Math.max(first, Math.ceil(end - 0.5 - ROUNDING))];
  };
  return [...cells(y), ...cells(x)] as Zoom;
}

/**
 * Size of a cell, px: square, unless few rows or columns would make a narrow band; longer by up
 * to `slack` where there is space.
 * @param room for all cells
 */
export function cellShape(
  site: Pick<Site, "queries" | "keys">,
  room: { width: number; height: number },
  largest: number,
  slack: number,
) {
  const [across, down] = [room.width / site.keys, room.height / site.queries];
  const square = Math.min(across, down, largest);
  const longer = (most: number) => Math.min(most, square * slack, largest);
  const stretched = (most: number) =>
    most > 2 * square ? Math.max(longer(most), Math.min(most, NARROW_CELL)) : longer(most);
  return { width: stretched(across), height: stretched(down) };
}

/** Size of a cell at the present zoom, px. */
export function cellSize({ width, height, x, y }: Plot) {
  return { width: width / (x[1] - x[0]), height: height / (y[1] - y[0]) };
}

/** Left edge of column `key`, px from the left of the plot. */
export function xOf(plot: Plot, key: number) {
  return (key - 0.5 - plot.x[0]) * cellSize(plot).width;
}

/** Top edge of row `query`, px from the top of the plot. */
export function yOf(plot: Plot, query: number) {
  return (query - 0.5 - plot.y[0]) * cellSize(plot).height;
}

/** The cell under a point of the box; null outside the plot. */
export function cellAt(geometry: Plot & { left: number; top: number }, x: number, y: number) {
  const [across, down] = [x - geometry.left, y - geometry.top];
  if (across < 0 || down < 0 || across >= geometry.width || down >= geometry.height) return null;
  const size = cellSize(geometry);
  return {
    key: Math.floor(across / size.width + geometry.x[0] + 0.5),
    query: Math.floor(down / size.height + geometry.y[0] + 0.5),
  };
}

/**
 * Which of `count` positions are labelled: every n-th that has space, and always the `wanted`
 * ones, whose neighbours give way.
 * @param range shown positions
 * @param cell px
 * @param spacing px that a label needs
 */
export function labelled(
  count: number,
  range: Range,
  cell: number,
  spacing: number,
  wanted: number[],
) {
  const every = Math.max(1, Math.ceil(spacing / cell));
  const first = Math.max(0, Math.ceil(range[0]));
  const last = Math.min(count - 1, Math.floor(range[1]));
  const always = wanted.filter((position) => position >= first && position <= last);
  const positions = new Set(always);
  for (let position = Math.ceil(first / every) * every; position <= last; position += every) {
    if (always.every((other) => Math.abs(other - position) * cell >= spacing))
      positions.add(position);
  }
  return positions;
}
