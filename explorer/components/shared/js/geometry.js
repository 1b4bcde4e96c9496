import { context2d } from "./element.js";
import { BYTE, labelOf, markOf } from "./label.js";

/** @import { Site, Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {[number, number]} Range of positions; a cell reaches 0.5 to either side
 *
 * @typedef {object} Plot where the cells lie, px
 * @property {number} width
 * @property {number} height
 * @property {Range} x shown keys
 * @property {Range} y shown queries
 *
 * @typedef {Plot & {
 *   box: {width: number, height: number},
 *   font: number,
 *   left: number,
 *   top: number,
 *   queryRoom: number,
 *   predictedRoom: number,
 *   keyRoom: number,
 *   rotated: boolean,
 *   keySpacing: number,
 *   querySpacing: number,
 * }} Geometry of the large map: plot, type size, space for labels, and label spacing; px
 */

const MAP_TYPE = { desk: 12, projector: 18 }; // px
const LARGEST_CELL = 150;
const SLANTED = 1.25; // space of a slanted label, in heights of its type
const SLACK = 1.5; // large cells matter more than square ones
const SMALLEST_TYPE = 12; // px
const MARK_WIDTH = 8; // px of the mark of a word start, both as in the style sheet
const BYTE_TYPE = 'ui-monospace, "DejaVu Sans Mono", monospace'; // and of bytes,
const BYTE_SIZE = 0.92; // as in the style sheet
const NARROW_CELL = 26;
export const SMALLEST_AXIS = 96; // px the title of an axis needs

/** @type {Map<string, CanvasRenderingContext2D>} pens by font: a new canvas takes a millisecond */
const pens = new Map();

/**
 * Measures text in a font.
 * @param {string} font as CSS has it
 */
export function measuringPen(font) {
  const pen = pens.get(font) ?? context2d(document.createElement("canvas"));
  pen.font = font;
  pens.set(font, pen);
  return pen;
}

/**
 * Width of `text`, px.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 */
export function textWidth(pen, text) {
  return pen.measureText(text).width;
}

/**
 * Width of a token with its mark, px.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} token
 */
export function tokenWidth(pen, token) {
  if (BYTE.test(token)) return byteWidth(pen, labelOf(token));
  return textWidth(pen, labelOf(token)) + (markOf(token) ? MARK_WIDTH : 0);
}

/**
 * The size of the type of a pen, px.
 * @param {CanvasRenderingContext2D} pen
 */
function typeOf(pen) {
  return parseFloat(/[\d.]+px/.exec(pen.font)?.[0] ?? String(SMALLEST_TYPE));
}

/**
 * Width of the label of a byte, px.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 */
function byteWidth(pen, text) {
  const type = pen.font;
  pen.font = `${Math.max(typeOf(pen) * BYTE_SIZE, SMALLEST_TYPE)}px ${BYTE_TYPE}`;
  const width = textWidth(pen, text);
  pen.font = type;
  return width;
}

/**
 * Width of the widest label, px.
 * @param {CanvasRenderingContext2D} pen
 * @param {string[]} tokens
 */
export function widest(pen, tokens) {
  let width = 0;
  for (const token of new Set(tokens)) width = Math.max(width, tokenWidth(pen, token));
  return width;
}

/**
 * The width a cell needs so that the labels of no two neighbours touch, px.
 * @param {CanvasRenderingContext2D} pen
 * @param {string[]} tokens
 */
function levelSpacing(pen, tokens) {
  const widths = tokens.map((token) => tokenWidth(pen, token));
  return widths.reduce(
    (most, width, index) => Math.max(most, (width + (widths[index - 1] ?? 0)) / 2),
    0,
  );
}

/**
 * Rows and columns of a thumbnail that is large enough for every attention of a trace: all are
 * drawn in one size, so that nothing moves from one to another.
 * @param {Pick<Trace, "sites">} trace
 */
export function sharedShape({ sites }) {
  const all = Object.values(sites);
  /** @param {"queries" | "keys" | "layers" | "heads"} name */
  const most = (name) => Math.max(1, ...all.map((site) => site[name]));
  return {
    queries: most("queries"),
    keys: most("keys"),
    layers: most("layers"),
    heads: most("heads"),
  };
}

/**
 * Where everything of the large map lies within a box of `width` × `height` px. Every attention
 * of the trace, and of those shown beside it, has the same rectangle, as large as the largest of them
 * needs.
 * @param {TraceContext} context
 * @param {Site} site
 * @param {number} width
 * @param {number} height
 * @param {number} [slack] how much longer than wide, or wider than long, a cell may become
 * @returns {Geometry}
 */
export function createGeometry(context, site, width, height, slack = SLACK) {
  const { palette, state, say } = context;
  const font = MAP_TYPE[state.projector ? "projector" : "desk"];
  const pen = measuringPen(`${font}px ${palette.font}`);
  /** @type {(value: number, most: number) => number} */
  const bounded = (value, most) => Math.ceil(Math.min(value, most));
  const traces = [context, ...context.beside].map(({ trace }) => trace);
  const sites = traces.flatMap((trace) => Object.values(trace.sites));
  const predicted = traces.flatMap((one) => (one.masks.length ? one.fillings : one.predicted));
  const masks = traces.some((trace) => trace.masks.length > 0);
  const predicts = predicted.length > 0 && (masks || sites.some(isDecoded));
  const forced = traces.some(({ candidates }) => candidates.flat().some((one) => one.forced));
  const mark = forced ? 1.5 * font : 0; // a pen after the token
  const queries = Math.max(...sites.map(({ queryTokens }) => widest(pen, queryTokens)));
  const queryRoom = bounded(queries + mark, width * 0.2) + 12;
  const title = textWidth(pen, say("predicts")) + font;
  const arrow = 3 * font; // before the token
  const longest = Math.max(widest(pen, predicted) + arrow + mark, title);
  const predictedRoom = predicts ? bounded(longest, width * 0.2 + font) : 8;
  const left = queryRoom + Math.round(font * 1.6) + 8;
  const largest = LARGEST_CELL * (font / MAP_TYPE.desk);
  const across = width - left - predictedRoom;
  /** @param {Site} one */
  const likelyWidth = ({ queries, keys }) => {
    const tall = Math.max(((height - 5 * font) / queries) * slack, NARROW_CELL); // cells are about square
    return Math.min(across, largest * keys, tall * keys);
  };
  const likely = Math.max(...sites.map(likelyWidth));
  /**
   * @param {Site} one
   * @param {number} most width of all cells, px
   */
  const keyLabels = ({ keyTokens, keys }, most) => {
    const widestKey = widest(pen, keyTokens);
    const level = levelSpacing(pen, keyTokens) + font * 0.2;
    const crowded = level > most / keys;
    const rotated = crowded && (widestKey > 2.4 * font || across / keys > font * SLANTED);
    return {
      rotated,
      room: rotated ? bounded(widestKey * 0.85, height * 0.22) + font : font + 6,
      spacing: rotated ? font * SLANTED : crowded ? widestKey + font * 0.4 : level,
    };
  };
  const keyRoom = Math.max(...sites.map((one) => keyLabels(one, likely).room));
  const top = Math.round(font * 1.7) + keyRoom;
  const room = { width: across, height: height - top - 6 };
  const cells = sites.map((one) => ({ ...one, cell: cellShape(one, room, largest, slack) }));
  const cellsWidth = Math.max(...cells.map(({ cell, keys }) => cell.width * keys), 10);
  const drawn = keyLabels(site, cellsWidth); // slanted where the cells became narrower than likely
  const { rotated, spacing } = drawn.room <= keyRoom ? drawn : keyLabels(site, likely);
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

/**
 * Whether the rows of an attention are decoded one after the other.
 * @param {Site} site
 */
function isDecoded({ name }) {
  return name !== "encoder";
}

/**
 * The ranges that show every cell.
 * @param {Pick<Site, "queries" | "keys">} site
 * @returns {{x: Range, y: Range}}
 */
export function wholeRange({ queries, keys }) {
  return { x: [-0.5, keys - 0.5], y: [-0.5, queries - 0.5] };
}

/**
 * Size of a cell, px: square, unless few rows or columns would make a narrow band; longer by up
 * to `slack` where there is space.
 * @param {Pick<Site, "queries" | "keys">} site
 * @param {{width: number, height: number}} room for all cells
 * @param {number} largest
 * @param {number} slack
 */
export function cellShape(site, room, largest, slack) {
  const [across, down] = [room.width / site.keys, room.height / site.queries];
  const square = Math.min(across, down, largest);
  /** @param {number} most */
  const longer = (most) => Math.min(most, square * slack, largest);
  /** @param {number} most */
  const stretched = (most) =>
    most > 2 * square ? Math.max(longer(most), Math.min(most, NARROW_CELL)) : longer(most);
  return { width: stretched(across), height: stretched(down) };
}

/**
 * Size of a cell at the present zoom, px.
 * @param {Plot} plot
 */
export function cellSize({ width, height, x, y }) {
  return { width: width / (x[1] - x[0]), height: height / (y[1] - y[0]) };
}

/**
 * Left edge of column `key`, px from the left of the plot.
 * @param {Plot} plot
 * @param {number} key
 */
export function xOf(plot, key) {
  return (key - 0.5 - plot.x[0]) * cellSize(plot).width;
}

/**
 * Top edge of row `query`, px from the top of the plot.
 * @param {Plot} plot
 * @param {number} query
 */
export function yOf(plot, query) {
  return (query - 0.5 - plot.y[0]) * cellSize(plot).height;
}

/**
 * The cell under a point of the box; null outside the plot.
 * @param {Plot & {left: number, top: number}} geometry
 * @param {number} x
 * @param {number} y
 */
export function cellAt(geometry, x, y) {
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
 * @param {number} count
 * @param {Range} range shown positions
 * @param {number} cell px
 * @param {number} spacing px that a label needs
 * @param {number[]} wanted
 */
export function labelled(count, range, cell, spacing, wanted) {
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
