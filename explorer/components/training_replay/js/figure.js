const PANEL_MARGIN = { left: 46, right: 12, top: 24, bottom: 32 };
const PANEL_GAP = { across: 58, down: 28 };
const MANY_POINTS = 80; // more are drawn without dots

/**
 * Where every panel of a figure lies, px.
 * @param {Array} panels @param {number} columns
 * @returns {Array<{left, top, width, height}>}
 */
function panelPlaces(panels, columns, width, height) {
  const rows = Math.ceil(panels.length / columns);
  const { left, right, top, bottom } = PANEL_MARGIN;
  const across = (width - left - right - PANEL_GAP.across * (columns - 1)) / columns;
  const weights = Array.from({ length: rows }, (_, row) => panels[row * columns].weight ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const gap = PANEL_GAP.down + (columns > 1 ? PANEL_MARGIN.bottom - 8 : 0);
  const unit = (height - top - bottom - gap * (rows - 1)) / total;
  let y = top;
  const tops = weights.map((weight) => {
    const here = y;
    y += weight * unit + gap;
    return here;
  });
  return panels.map((_, place) => {
    const row = Math.floor(place / columns);
    const x = left + (place % columns) * (across + PANEL_GAP.across);
    return { left: x, top: tops[row], width: Math.max(across, 10), height: Math.max(weights[row] * unit, 10) };
  });
}

/** Plotly's name of a panel's axis. */
function axisName(letter, place) {
  return place ? `${letter}${place + 1}` : letter;
}

/** All panels as one Plotly figure; the cursor is not in it, so scrubbing need not redraw it. */
function panelFigure(context, panels, places, size) {
  const { palette } = context;
  const layout = {
    width: size.width,
    height: size.height,
    margin: { l: 0, t: 0, r: 0, b: 0, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: false,
    dragmode: false,
    uirevision: "steady",
    font: { family: palette.font, size: context.state.projector ? 15 : 11, color: css(mix(palette.ink, palette.paper, 0.2)) },
    shapes: [],
  };
  const data = [];
  panels.forEach((panel, place) => {
    const lines = panel.lines(context);
    const last = place >= panels.length - context.columns;
    addAxes(layout, context, panel, lines, place, places[place], size, last);
    const nothing = { x: [], y: [], width: 0 }; // without a line Plotly draws no axes
    for (const line of lines.length ? lines : [nothing]) data.push(plotlyLine(line, place));
  });
  return { data, layout };
}

/** One line as Plotly draws it. */
function plotlyLine(line, place) {
  const dots = line.x.length <= MANY_POINTS && line.width >= 1.5 && !line.dash;
  return {
    type: "scatter",
    mode: dots ? "lines+markers" : "lines",
    x: line.x,
    y: line.y,
    xaxis: axisName("x", place),
    yaxis: axisName("y", place),
    line: { color: line.colour, width: line.width, dash: line.dash ?? "solid" },
    marker: { color: line.colour, size: 4 },
    hoverinfo: "skip",
  };
}

/** The two axes of a panel, and its mark. */
function addAxes(layout, context, panel, lines, place, box, size, last) {
  const { palette } = context;
  const grid = css(mix(palette.paper, palette.ink, 0.12));
  const [x, y] = [axisName("x", place), axisName("y", place)];
  const shared = { fixedrange: true, zeroline: false, gridcolor: grid, linecolor: grid, showline: true };
  layout[`xaxis${x.slice(1)}`] = {
    ...shared,
    domain: [box.left / size.width, (box.left + box.width) / size.width],
    anchor: y,
    range: context.range,
    showgrid: false,
    nticks: 6,
    showticklabels: last || context.columns > 1,
  };
  layout[`yaxis${y.slice(1)}`] = {
    ...shared,
    domain: [1 - (box.top + box.height) / size.height, 1 - box.top / size.height],
    anchor: x,
    ...valueAxis(panel, lines),
  };
  if (!panel.mark) return;
  const line = { color: css(mix(palette.paper, palette.ink, 0.5)), width: 1, dash: "dot" };
  const [x0, x1] = context.range;
  layout.shapes.push({ type: "line", xref: x, yref: y, x0, x1, y0: panel.mark, y1: panel.mark, line });
}

/** Range and ticks of a panel's values; a logarithmic one grows by whole decades. */
function valueAxis(panel, lines) {
  const values = lines.flatMap((line) => line.y).filter((value) => Number.isFinite(value));
  if (panel.range) {
    const ticktext = panel.ticks.map((tick) => (panel.percent ? `${100 * tick} %` : String(tick)));
    return { range: [panel.range[0], panel.range[1] * 1.03], tickvals: panel.ticks, ticktext };
  }
  if (panel.ceilings) {
    const most = Math.max(...values, 0);
    const top = panel.ceilings.find((ceiling) => most <= ceiling) ?? panel.ceilings.at(-1);
    return { range: [0, top * 1.03], tickvals: [0, top / 2, top] };
  }
  if (panel.log) {
    const positive = values.filter((value) => value > 0).map(Math.log10);
    const low = positive.length ? Math.floor(Math.min(...positive)) : -2;
    const high = positive.length ? Math.ceil(Math.max(...positive)) : 1;
    const decades = Array.from({ length: Math.max(high - low, 1) + 1 }, (_, place) => low + place);
    const tickvals = decades.map((decade) => 10 ** decade);
    const ticktext = decades.map((decade) => (decade < -3 ? `1e${decade}` : String(Number(`1e${decade}`))));
    return { type: "log", range: [low, decades.at(-1)], tickvals, ticktext };
  }
  const most = Math.max(...values, 0) || 1;
  return { range: [0, most * 1.08], nticks: 4 };
}
