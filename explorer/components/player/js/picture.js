const LONGEST_EXPORT_LABEL = 14;
const EXPORT_FONT = 13;

/** The whole map as one figure to keep: labels, colour bar, current row and reasons inside. */
function exportFigure(context) {
  const site = siteOf(context);
  const rows = shownRows(context);
  const unit = Math.max(8, Math.min(56, Math.floor(760 / Math.max(site.queries, site.keys))));
  const room = exportRoom(context);
  const data = figureData(context, rows);
  Object.assign(data[0], { showscale: true, colorbar: exportBar(context, room) });
  const layout = {
    ...exportFrame(context, room, unit),
    ...exportAxes(context, rows, room, unit),
    shapes: [...exportLinks(context, rows), ...exportOutline(context)],
    annotations: [
      ...exportPredictions(context, unit),
      ...exportWeights(context, unit),
      ...exportCover(context, rows),
    ],
    images: exportPattern(context, rows, unit),
  };
  return { data, layout };
}

/** Size, margins, colours and title. */
function exportFrame(context, room, unit) {
  const { palette } = context;
  const site = siteOf(context);
  const margin = { l: room.left + 40, t: room.top + 90, r: room.right + 110, b: 24 };
  return {
    width: Math.max(site.keys * unit, 180) + margin.l + margin.r,
    height: Math.max(site.queries * unit, 180) + margin.t + margin.b,
    margin,
    paper_bgcolor: css(palette.paper),
    plot_bgcolor: css(palette.paper),
    font: { family: palette.font, size: EXPORT_FONT, color: css(palette.ink) },
    title: { text: exportTitle(context), x: 0.02, y: 0.98, yanchor: "top", yref: "container" },
  };
}

/** The colour bar, to the right of the predictions. */
function exportBar(context, room) {
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

/** Keys on top, queries left. */
function exportAxes(context, rows, room, unit) {
  const { say, palette } = context;
  const site = siteOf(context);
  const ink = css(palette.ink);
  const keys = exportAxis(site.keyTokens, shownKeys(context), unit, say("axis_key"), false, ink);
  const queries = exportAxis(site.queryTokens, rows, unit, say("axis_query"), true, ink);
  return { xaxis: { ...keys, side: "top", tickangle: room.slanted ? -45 : 0 }, yaxis: queries };
}

/** Which head, and which step. */
function exportTitle(context) {
  const { state, trace, say } = context;
  const step = say("step_of", { step: state.step, steps: trace.steps });
  return currentRow(context) < 0 ? mapTitle(context) : `${mapTitle(context)} · ${step}`;
}

/** Room for the labels, px. */
function exportRoom(context) {
  const { trace, palette } = context;
  const site = siteOf(context);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${EXPORT_FONT}px ${palette.font}`;
  const room = (tokens) => {
    const short = tokens.map((token) => Array.from(labelOf(token)).slice(0, LONGEST_EXPORT_LABEL).join(""));
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

/** One labelled axis of the exported figure; positions are the axis, tokens its labels. */
function exportAxis(tokens, shown, unit, title, reversed, ink) {
  const every = Math.max(1, Math.ceil(15 / unit));
  const places = tokens.map((_, place) => place).filter((place) => place % every === 0);
  const range = [-0.5, tokens.length - 0.5];
  const name = (place) => (place < shown ? plotlyLabel(tokens[place], LONGEST_EXPORT_LABEL) : "·");
  return {
    title: { text: title },
    tickvals: places,
    ticktext: places.map(name),
    range: reversed ? range.reverse() : range,
    showgrid: false,
    zeroline: false,
    ticks: "",
    mirror: true,
    showline: true,
    linecolor: ink,
  };
}

/** The current row's outline. */
function exportOutline(context) {
  const row = currentRow(context);
  if (row < 0) return [];
  const line = { color: css(context.palette.query), width: 2 };
  const [x1, y0, y1] = [siteOf(context).keys - 0.5, row - 0.5, row + 0.5];
  return [{ type: "rect", x0: -0.5, x1, y0, y1, line }];
}

/** The marks of the cells the alignment links. */
function exportLinks(context, rows) {
  const lines = cornersOf({ width: 1, height: 1 }, 0.1, false);
  const mark = (key, row, [colour, width]) => {
    const point = ([x, y]) => `${key - 0.5 + x},${row - 0.5 + y}`;
    const path = lines.map((line) => `M${line.map(point).join("L")}`).join("");
    return { type: "path", path, line: { color: css(colour), width } };
  };
  const seen = Array.from(linksOf(context).subarray(0, rows));
  const strokes = linkStrokes(context.palette);
  return seen.flatMap((key, row) => (key < 0 ? [] : strokes.map((stroke) => mark(key, row, stroke))));
}

/** "→ predicted" at the right end of the rows. */
function exportPredictions(context, unit) {
  const { trace } = context;
  if (context.state.site === "encoder") return [];
  const every = Math.max(1, Math.ceil(15 / unit));
  const rows = trace.predicted.slice(0, shownRows(context));
  return rows.flatMap((token, row) => {
    if (row % every) return [];
    const text = `→ ${plotlyLabel(token, LONGEST_EXPORT_LABEL)}`;
    return [{ x: 1, xref: "paper", xanchor: "left", xshift: 4, y: row, text, showarrow: false }];
  });
}

/** The current row's weights, where they fit. */
function exportWeights(context, unit) {
  const { state, palette } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (row < 0 || row >= site.queries || unit < PRINTED_CELL) return [];
  const { weights, closed } = rowOf(site, state.layer, state.head, row);
  const codes = site.weights(state.layer, state.head).subarray(row * site.keys, (row + 1) * site.keys);
  const tone = tones(codes, site.keys, scaleOf(state, site));
  return weights.flatMap((weight, key) => {
    if (closed[key] || weight < 0.005) return [];
    const color = inkOn(palette.ramp[Math.round(tone[key] * (LEVELS - 1))]);
    return [{ x: key, y: row, text: shortWeight(weight), font: { color, size: 12 }, showarrow: false }];
  });
}

/** What the empty rows are. */
function exportCover(context, rows) {
  const site = siteOf(context);
  if (rows >= site.queries) return [];
  const [x, y] = [(site.keys - 1) / 2, (rows + site.queries - 1) / 2];
  return [{ x, y, text: context.say("not_yet"), showarrow: false }];
}

/** The reasons' pattern, as one image under the outline. */
function exportPattern(context, rows, unit) {
  const { state, palette } = context;
  const site = siteOf(context);
  const closed = site.closed(state.layer, state.head).slice();
  closed.fill(0, rows * site.keys);
  if (!closed.some((code) => code !== 0)) return [];
  const [x, y] = [-0.5, -0.5];
  const size = { sizex: site.keys, sizey: site.queries, sizing: "stretch" };
  const source = patternImage(site, closed, palette, unit);
  return [{ source, xref: "x", yref: "y", x, y, ...size, layer: "above" }];
}
