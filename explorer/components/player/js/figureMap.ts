import { drawn } from "../../dom/js/drawing.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { figureCells } from "../../figure/js/figureCells.ts";
import {
  figurePen,
  LINE,
  labelText,
  MARGIN,
  shortLabel,
  TYPE,
} from "../../figure/js/figureText.ts";
import { linkMarks } from "../../map/js/alignment.ts";
import { labelled, textWidth, wholeRange } from "../../map/js/geometry.ts";
import { colourAt, css, inkOn, maskColour } from "../../page/js/palette.ts";
import { shownPrediction, visibleRows, weightsHidden, whyCovered } from "../../trace/js/guess.ts";
import { labelOf, markOf } from "../../trace/js/label.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import {
  currentRow,
  predictionsOf,
  rowCodes,
  rowOf,
  shownHead,
  shownKeys,
  shownRows,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** Where the parts of the map lie, px. */
export interface Places {
  left: number; // of the cells
  top: number;
  width: number; // of all cells
  height: number;
  across: number; // width of a cell
  down: number; // height of a cell
  upright: boolean; // whether the labels of keys stand upright
  predicts: boolean; // whether there is space for what rows predict
}

const LONGEST_LABEL = 112; // px
const LARGEST_CELL = 48; // px
const PITCH = { upright: 13, level: 14 }; // px between two labels
const TALLEST = 760; // px of all rows together, where cells need not be square
const PRINTED_CELL = 32; // px; from here on a weight fits into its cell
const GAP = 6; // px between cells and labels

/**
 * Where the map lies.
 * @param top px
 * @param width of the figure, px
 */
export function placesOf(context: TraceContext, top: number, width: number): Places {
  const site = siteOf(context);
  const pen = figurePen();
  const room = (tokens: string[]) =>
    Math.min(
      LONGEST_LABEL,
      Math.max(0, ...tokens.map((token) => textWidth(pen, markOf(token) + labelOf(token)))),
    );
  const left = MARGIN + LINE + room(site.queryTokens) + GAP;
  const space = width - MARGIN - left;
  const predicted = predictionsOf(context);
  const arrow = textWidth(pen, "→ ") + 2 * GAP;
  const right = Math.max(room(predicted) + arrow, textWidth(pen, context.say("predicts")) + GAP);
  const wanted = predicted.length > 0;
  const predicts = wanted && (space - right) / site.keys >= PITCH.upright;
  const across = Math.min(LARGEST_CELL, (space - (predicts ? right : 0)) / site.keys);
  const legible = Math.min(PITCH.level + 2, TALLEST / site.queries);
  const down = Math.min(Math.max(across, legible), (1.25 * TALLEST) / site.queries);
  const keys = room(site.keyTokens);
  const upright = keys + GAP > across;
  return {
    left,
    top: top + LINE + (upright ? keys : TYPE) + GAP,
    width: across * site.keys,
    height: down * site.queries,
    across,
    down,
    upright,
    predicts,
  };
}

/** Whether there is no space for the labels of all rows and columns. */
export function isThinned({ across, down, upright }: Places) {
  return (upright && across < PITCH.upright) || down < PITCH.level;
}

/** The cells of the selected head with labels, current row and links. */
export function mapDrawing(context: TraceContext, places: Places) {
  const { left, top, width, height } = places;
  const { state } = context;
  const edge = { x: left, y: top, width, height, fill: "none", stroke: css(context.palette.ink) };
  const removed = siteOf(context).removed(state.layer, shownHead(state)) !== null;
  const back = removed ? [cross(places, edge.stroke)] : figureCells(context, places);
  const front = removed
    ? []
    : [...links(context, places), ...currentQuery(context, places), ...notYet(context, places)];
  return drawn(
    "g",
    {},
    ...back,
    drawn("rect", edge),
    ...keyLabels(context, places),
    ...queryLabels(context, places),
    ...(places.predicts ? predictions(context, places) : []),
    ...front,
  );
}

/** Two lines instead of the cells of a removed head, whose weights have no effect. */
function cross({ left, top, width, height }: Places, stroke: string) {
  const [right, bottom] = [left + width, top + height];
  const d = `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
  return drawn("path", { d, fill: "none", stroke });
}

/** Labels of the columns, and what columns are. */
function keyLabels(context: TraceContext, { left, top, across, upright }: Places) {
  const site = siteOf(context);
  const pen = figurePen();
  const room = upright ? LONGEST_LABEL : across;
  const faint = maskColour(context.palette.stroke, 1);
  const named = labelled(
    shownKeys(context),
    [-0.5, site.keys],
    across,
    upright ? PITCH.upright : 1,
    [],
  );
  const y = top - GAP;
  const labels = [...named].map((key) => {
    const x = left + (key + 0.5) * across;
    const text = shortLabel(pen, site.keyTokens[key], room);
    const turned = { transform: `translate(${x + TYPE * 0.35} ${y}) rotate(-90)` };
    return labelText(upright ? turned : { x, y, "text-anchor": "middle" }, text, faint);
  });
  const longest = Math.max(
    ...site.keyTokens.map((token) => textWidth(pen, shortLabel(pen, token, room))),
  );
  const above = y - (upright ? longest + GAP : LINE);
  return [...labels, drawn("text", { x: left, y: above }, context.say("axis_key"))];
}

/** Labels of the rows, and what rows are. */
function queryLabels(context: TraceContext, { left, top, height, down }: Places) {
  const { palette } = context;
  const site = siteOf(context);
  const pen = figurePen();
  const row = currentRow(context);
  const rows = shownRows(context);
  const named = labelled(rows, [-0.5, site.queries], down, PITCH.level, row < 0 ? [] : [row]);
  const labels = [...named].map((query) => {
    const looks = query === row ? { fill: css(palette.query), "font-weight": 600 } : {};
    const place = { x: left - GAP, y: middle(top, down, query), "text-anchor": "end" };
    const label = shortLabel(pen, site.queryTokens[query], LONGEST_LABEL);
    return labelText({ ...place, ...looks }, label, maskColour(palette.stroke, 1));
  });
  const turned = `translate(${MARGIN + TYPE * 0.8} ${top + height}) rotate(-90)`;
  return [...labels, drawn("text", { transform: turned }, context.say("axis_query"))];
}

/** The base line of the text of a row, px. */
function middle(top: number, down: number, query: number) {
  return top + (query + 0.5) * down + TYPE * 0.35;
}

/** "→ predicted" at the right end of the rows. */
function predictions(context: TraceContext, { left, top, width, down }: Places) {
  const predicted = predictionsOf(context);
  const pen = figurePen();
  const row = currentRow(context);
  const x = left + width + GAP;
  const faint = maskColour(context.palette.stroke, 1);
  const rows = shownRows(context);
  const named = labelled(rows, [-0.5, rows], down, PITCH.level, row < 0 ? [] : [row]);
  const written = [...named].filter((query) => predicted[query]);
  const labels = written.map((query) => {
    const label = shortLabel(pen, shownPrediction(context, query), LONGEST_LABEL);
    return labelText({ x, y: middle(top, down, query) }, label, faint, "→ ");
  });
  return [...labels, drawn("text", { x, y: top - GAP }, context.say("predicts"))];
}

/** The corners of the linked cells. */
function links(context: TraceContext, { left, top, width, height }: Places) {
  const plot = { width, height, ...wholeRange(siteOf(context)) };
  const marks = linkMarks(context, plot, visibleRows(context));
  return [drawn("g", { transform: `translate(${left} ${top})` }, ...marks)];
}

/** The frame of the current row, with its weights where they fit. */
function currentQuery(context: TraceContext, { left, top, width, across, down }: Places) {
  const { state, palette } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (row < 0 || row >= site.queries) return [];
  const place = { x: left, y: top + row * down, width, height: down };
  const frame = drawn("rect", {
    ...place,
    fill: "none",
    stroke: css(palette.query),
    "stroke-width": 2,
  });
  if (across < PRINTED_CELL || weightsHidden(context)) return [frame];
  const { weights, masked } = rowOf(site, state.layer, shownHead(state), row);
  const tone = tones(
    rowCodes(site, state.layer, shownHead(state), row),
    site.keys,
    scaleOf(state, site),
  );
  const texts = weights.flatMap((weight, key) => {
    if (masked[key] || weight < 0.005) return [];
    const fill = inkOn(colourAt(palette.ramp, tone[key]));
    const x = left + (key + 0.5) * across;
    const text = { x, y: middle(top, down, row), "text-anchor": "middle", fill };
    return [drawn("text", text, shortWeight(weight))];
  });
  return [...texts, frame];
}

/** What the empty rows are. */
function notYet(context: TraceContext, { left, top, width, down }: Places) {
  const site = siteOf(context);
  const rows = visibleRows(context);
  const text = context.say(whyCovered(context));
  if ((site.queries - rows) * down < LINE || textWidth(figurePen(), text) > width) return [];
  const last = weightsHidden(context) ? rows + 1 : site.queries; // which the text is about
  const y = top + ((rows + last) / 2) * down + TYPE * 0.35;
  return [drawn("text", { x: left + width / 2, y, "text-anchor": "middle" }, text)];
}
