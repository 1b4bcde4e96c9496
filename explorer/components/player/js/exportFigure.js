import { cornersOf, linkStrokes, linksOf } from "../../shared/js/alignment.js";
import { measuringPen, widest } from "../../shared/js/geometry.js";
import { labelOf, markOf } from "../../shared/js/label.js";
import { figureData } from "../../shared/js/mapFigure.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { colourAt, css, inkOn } from "../../shared/js/palette.js";
import { patternImage } from "../../shared/js/pattern.js";
import { scaleMarks, scaleOf, tones } from "../../shared/js/scale.js";
import {
  currentRow,
  mapTitle,
  rowCodes,
  rowOf,
  shownKeys,
  shownRows,
  siteOf,
} from "../../shared/js/stepState.js";

/** @import { Point } from "../../shared/js/alignment.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/** @typedef {{left: number, top: number, right: number, slanted: boolean}} Room space for labels, px */

const LONGEST_LABEL = 14;
const FONT = 13;
const PRINTED_CELL = 30; // px; from here on a weight fits into its cell
const LABEL_PITCH = 15; // px between two labels

/**
 * The whole map as one Plotly figure to save: labels, colour bar, current row and reasons inside.
 * @param {TraceContext} context
 */
export function exportFigure(context) {
  const site = siteOf(context);
  const rows = shownRows(context);
  const unit = Math.max(8, Math.min(56, Math.floor(760 / Math.max(site.queries, site.keys))));
  const room = labelRoom(context);
  const data = figureData(context, rows);
  Object.assign(data[0], { showscale: true, colorbar: colourBar(context, room) });
  const layout = {
    ...frame(context, room, unit),
    ...axes(context, rows, room, unit),
    shapes: [...links(context, rows), ...outline(context)],
    annotations: [
      ...predictions(context, unit),
      ...rowWeights(context, unit),
      ...cover(context, rows),
    ],
    images: pattern(context, rows, unit),
  };
  return { data, layout };
}

/**
 * Size, margins, colours and title.
 * @param {TraceContext} context
 * @param {Room} room
 * @param {number} unit px a cell
 */
function frame(context, room, unit) {
  const { palette } = context;
  const site = siteOf(context);
  const margin = { l: room.left + 40, t: room.top + 90, r: room.right + 110, b: 24 };
  return {
    width: Math.max(site.keys * unit, 180) + margin.l + margin.r,
    height: Math.max(site.queries * unit, 180) + margin.t + margin.b,
    margin,
    paper_bgcolor: css(palette.paper),
    plot_bgcolor: css(palette.paper),
    font: { family: palette.font, size: FONT, color: css(palette.ink) },
    title: { text: title(context), x: 0.02, y: 0.98, yanchor: "top", yref: "container" },
  };
}

/**
 * The colour bar, to the right of the predictions.
 * @param {TraceContext} context
 * @param {Room} room
 */
function colourBar(context, room) {
  const { state, say } = context;
  const site = siteOf(context);
  const scale = scaleOf(state, site);
  const marks = scaleMarks(scale, site.scale);
  return {
    title: { text: `${say("weight")} (${say(`scale_${scale}`)})`, side: "right" },
    tickvals: marks.map(([tone]) => tone),
    ticktext: marks.map(([, text]) => text),
    thickness: 14,
    x: 1,
    xpad: room.right + 10,
  };
}

/**
 * Keys on top, queries left.
 * @param {TraceContext} context
 * @param {number} rows
 * @param {Room} room
 * @param {number} unit px a cell
 */
function axes(context, rows, room, unit) {
  const { say, palette } = context;
  const site = siteOf(context);
  const ink = css(palette.ink);
  const keys = axis(site.keyTokens, shownKeys(context), unit, say("axis_key"), ink);
  const queries = axis(site.queryTokens, rows, unit, say("axis_query"), ink);
  return {
    xaxis: { ...keys, side: "top", tickangle: room.slanted ? -45 : 0 },
    yaxis: { ...queries, range: [...queries.range].reverse() },
  };
}

/**
 * Which head, and which step.
 * @param {TraceContext} context
 */
function title(context) {
  const { state, trace, say } = context;
  const step = say("step_of", { step: state.step, steps: trace.steps });
  return currentRow(context) < 0 ? mapTitle(context) : `${mapTitle(context)} · ${step}`;
}

/**
 * The space that labels need.
 * @param {TraceContext} context
 * @returns {Room}
 */
function labelRoom({ trace, state, palette }) {
  const site = siteOf({ trace, state });
  const pen = measuringPen(`${FONT}px ${palette.font}`);
  /** @param {string[]} tokens */
  const room = (tokens) => {
    const short = tokens.map((token) =>
      Array.from(labelOf(token)).slice(0, LONGEST_LABEL).join(""),
    );
    return Math.ceil(widest(pen, short)) + 14;
  };
  const keys = room(site.keyTokens);
  const slanted = keys > 40;
  return {
    left: room(site.queryTokens),
    top: slanted ? Math.ceil(keys * 0.8) : 16,
    right: site.name === "encoder" || !trace.predicted.length ? 6 : room(trace.predicted) + 22,
    slanted,
  };
}

/**
 * One labelled axis; positions are the axis, tokens its labels.
 * @param {string[]} tokens
 * @param {number} shown
 * @param {number} unit px a cell
 * @param {string} name
 * @param {string} ink
 */
function axis(tokens, shown, unit, name, ink) {
  const every = Math.max(1, Math.ceil(LABEL_PITCH / unit));
  const positions = tokens
    .map((_, position) => position)
    .filter((position) => position % every === 0);
  return {
    title: { text: name },
    tickvals: positions,
    ticktext: positions.map((position) => (position < shown ? plotlyLabel(tokens[position]) : "·")),
    range: [-0.5, tokens.length - 0.5],
    showgrid: false,
    zeroline: false,
    ticks: "",
    mirror: true,
    showline: true,
    linecolor: ink,
  };
}

/**
 * A label for Plotly, which reads a subset of HTML in every text.
 * @param {string} token
 */
export function plotlyLabel(token) {
  const letters = Array.from(markOf(token) + labelOf(token));
  const text =
    letters.length > LONGEST_LABEL
      ? `${letters.slice(0, LONGEST_LABEL).join("")}…`
      : letters.join("");
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("$", "＄"); // two dollar signs would start MathJax
}

/**
 * The outline of the current row.
 * @param {TraceContext} context
 */
function outline(context) {
  const row = currentRow(context);
  if (row < 0) return [];
  const line = { color: css(context.palette.query), width: 2 };
  const [x1, y0, y1] = [siteOf(context).keys - 0.5, row - 0.5, row + 0.5];
  return [{ type: "rect", x0: -0.5, x1, y0, y1, line }];
}

/**
 * The marks of the linked cells.
 * @param {TraceContext} context
 * @param {number} rows
 */
function links(context, rows) {
  const lines = cornersOf({ width: 1, height: 1 }, 0.1, false);
  const strokes = linkStrokes(context.palette);
  return Array.from(linksOf(context).subarray(0, rows)).flatMap((key, row) => {
    if (key < 0) return [];
    const path = lines
      .map(
        (/** @type {Point[]} */ line) =>
          `M${line.map(([x, y]) => `${key - 0.5 + x},${row - 0.5 + y}`).join("L")}`,
      )
      .join("");
    return strokes.map(({ colour, width }) => ({
      type: "path",
      path,
      line: { color: css(colour), width },
    }));
  });
}

/**
 * "→ predicted" at the right end of the rows.
 * @param {TraceContext} context
 * @param {number} unit px a cell
 */
function predictions(context, unit) {
  const { trace } = context;
  if (context.state.site === "encoder") return [];
  const every = Math.max(1, Math.ceil(LABEL_PITCH / unit));
  const rows = trace.predicted.slice(0, shownRows(context));
  return rows.flatMap((token, row) => {
    if (row % every) return [];
    const text = `→ ${plotlyLabel(token)}`;
    return [{ x: 1, xref: "paper", xanchor: "left", xshift: 4, y: row, text, showarrow: false }];
  });
}

/**
 * The weights of the current row, where they fit.
 * @param {TraceContext} context
 * @param {number} unit px a cell
 */
function rowWeights(context, unit) {
  const { state, palette } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (row < 0 || row >= site.queries || unit < PRINTED_CELL) return [];
  const { weights, masked } = rowOf(site, state.layer, state.head, row);
  const tone = tones(rowCodes(site, state.layer, state.head, row), site.keys, scaleOf(state, site));
  return weights.flatMap((weight, key) => {
    if (masked[key] || weight < 0.005) return [];
    const color = inkOn(colourAt(palette.ramp, tone[key]));
    return [
      { x: key, y: row, text: shortWeight(weight), font: { color, size: 12 }, showarrow: false },
    ];
  });
}

/**
 * What the empty rows are.
 * @param {TraceContext} context
 * @param {number} rows
 */
function cover(context, rows) {
  const site = siteOf(context);
  if (rows >= site.queries) return [];
  const [x, y] = [(site.keys - 1) / 2, (rows + site.queries - 1) / 2];
  return [{ x, y, text: context.say("not_yet"), showarrow: false }];
}

/**
 * The pattern of masked cells, as one image.
 * @param {TraceContext} context
 * @param {number} rows
 * @param {number} unit px a cell
 */
function pattern(context, rows, unit) {
  const { state, palette } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, state.head).slice();
  masked.fill(0, rows * site.keys);
  if (!masked.some((code) => code !== 0)) return [];
  const size = { sizex: site.keys, sizey: site.queries, sizing: "stretch" };
  const source = patternImage(site, masked, palette, unit);
  return [{ source, xref: "x", yref: "y", x: -0.5, y: -0.5, ...size, layer: "above" }];
}
