import { measuringPen, textWidth } from "../../map/js/geometry.ts";
import { css, mix } from "../../page/js/palette.ts";
import type { Line, Panel } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";

export type Box = { left: number; top: number; width: number; height: number }; // px

export type Size = { width: number; height: number }; // px

/** `range`: of steps. */
export type Layout = { columns: number; boxes: Box[]; size: Size; range: [number, number] };

const MARGIN = { left: 50, right: 8, top: 26, bottom: 36 };
const TYPE = { desk: 13, projector: 18 }; // px
const GAP = { across: 60, down: 30 };
const ROOM = 72; // px right of a panel for the names of its lines, at least
const LONGEST_NAME = 116; // px, as in curves.css
const TICK_PITCH = 17; // px between two decades
const STEP_ROOM = 60; // px that the number of a step needs
const MANY_POINTS = 80; // more are drawn without dots

/**
 * Where every panel of a figure lies; the names of its lines have their room to the right.
 * @param projector whose type is larger
 */
export function panelBoxes(
  panels: Pick<Panel, "weight" | "room">[],
  columns: number,
  { width, height }: Size,
  projector = false,
): Box[] {
  const rows = Math.ceil(panels.length / columns);
  const { right, top, bottom } = MARGIN;
  const larger = projector ? TYPE.projector / TYPE.desk : 1;
  const left = MARGIN.left * larger;
  const across = (width - left - right - GAP.across * (columns - 1)) / columns;
  const weights = Array.from({ length: rows }, (_, row) => panels[row * columns].weight ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const gap = GAP.down + (columns > 1 ? MARGIN.bottom - 8 : 0);
  const unit = (height - top - bottom - gap * (rows - 1)) / total;
  let y = top;
  const tops = weights.map((weight) => {
    const here = y;
    y += weight * unit + gap;
    return here;
  });
  return panels.map((panel, index) => {
    const row = Math.floor(index / columns);
    return {
      left: left + (index % columns) * (across + GAP.across),
      top: tops[row],
      width: Math.max(across - (panel.room ?? ROOM) * larger, 10),
      height: Math.max(weights[row] * unit, 10),
    };
  });
}

/** px right of a panel for the names of its lines, which are as long as the language makes them. */
export function roomForNames(
  { room = ROOM }: Pick<Panel, "room">,
  lines: Pick<Line, "name">[],
  palette: import("../../page/js/palette.ts").Palette,
) {
  if (!room) return 0;
  const pen = measuringPen(`${TYPE.desk}px ${palette.font}`);
  const longest = Math.max(0, ...lines.map(({ name }) => textWidth(pen, name ?? "")));
  return Math.max(room, Math.min(Math.ceil(longest), LONGEST_NAME) + MARGIN.right);
}

/** Plotly's name of an axis of a panel. */
function axisName(letter: "x" | "y", index: number) {
  return index ? `${letter}${index + 1}` : letter;
}

/**
 * All panels as one Plotly figure; the cursor is not part of it, so scrubbing does not redraw it.
 */
export function panelFigure(
  context: ReplayContext,
  panels: Panel[],
  { columns, boxes, size, range }: Layout,
) {
  const { palette } = context;
  const figure = {
    width: size.width,
    height: size.height,
    margin: { l: 0, t: 0, r: 0, b: 0, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: false,
    dragmode: false,
    uirevision: "steady",
    font: {
      family: palette.font,
      size: TYPE[context.state.projector ? "projector" : "desk"],
      color: css(mix(palette.ink, palette.paper, 0.2)),
    },
    shapes: panels.flatMap((panel, index) => markLine(context, panel, index, range)),
  };
  const lines = panels.map((panel) => panel.lines(context));
  const axes = panels.map((panel, index) => {
    const labelled = columns > 1 || index >= panels.length - columns;
    return panelAxes(context, panel, lines[index], index, boxes[index], size, range, labelled);
  });
  const nothing = { name: "", colour: "", x: [], y: [], width: 0 }; // without a line Plotly draws no axes
  const data = lines.flatMap((own, index) =>
    (own.length ? own : [nothing]).map((line) => plotlyLine(line, index)),
  );
  return { data, layout: Object.assign(figure, ...axes) };
}

/**
 * One line as Plotly draws it.
 * @param index of the panel
 */
function plotlyLine(line: Line, index: number) {
  const dots = line.x.length <= MANY_POINTS && line.width >= 1.5 && !line.dash;
  return {
    type: "scatter",
    mode: dots ? "lines+markers" : "lines",
    x: line.x,
    y: line.y,
    xaxis: axisName("x", index),
    yaxis: axisName("y", index),
    line: { color: line.colour, width: line.width, dash: line.dash ?? "solid" },
    marker: { color: line.colour, size: 4 },
    hoverinfo: "skip",
  };
}

/**
 * Where a value is drawn, in px from the top of the figure; null where the axis has no such value.
 */
export function heightOf(
  box: Box,
  { type, range: [low, high] }: { type?: string; range: number[] },
  value: number,
) {
  if (type === "log" && value <= 0) return null;
  const at = type === "log" ? Math.log10(value) : value;
  const share = Math.min(Math.max((at - low) / (high - low), 0), 1);
  return box.top + (1 - share) * box.height;
}

/**
 * The two axes of a panel.
 * @param index of the panel
 * @param size of the figure
 * @param range of steps
 * @param labelled whether the steps have labels
 */
function panelAxes(
  { palette }: ReplayContext,
  panel: Panel,
  lines: Line[],
  index: number,
  box: Box,
  size: Size,
  range: [number, number],
  labelled: boolean,
) {
  const grid = css(mix(palette.paper, palette.ink, 0.12));
  const [x, y] = [axisName("x", index), axisName("y", index)];
  const shared = {
    fixedrange: true,
    zeroline: false,
    gridcolor: grid,
    linecolor: grid,
    showline: true,
  };
  return {
    [`xaxis${x.slice(1)}`]: {
      ...shared,
      domain: [box.left / size.width, (box.left + box.width) / size.width],
      anchor: y,
      range,
      showgrid: false,
      nticks: Math.max(2, Math.min(6, Math.floor(box.width / STEP_ROOM))),
      tickangle: 0,
      showticklabels: labelled,
    },
    [`yaxis${y.slice(1)}`]: {
      ...shared,
      domain: [1 - (box.top + box.height) / size.height, 1 - box.top / size.height],
      anchor: x,
      ...valueAxis(panel, lines, box.height),
    },
  };
}

/**
 * The horizontal line of a panel, if it has one.
 * @param range of steps
 */
function markLine(
  { palette }: ReplayContext,
  { mark }: Panel,
  index: number,
  [x0, x1]: [number, number],
) {
  if (!mark) return [];
  const line = { color: css(mix(palette.paper, palette.ink, 0.5)), width: 1, dash: "dot" };
  return [
    {
      type: "line",
      xref: axisName("x", index),
      yref: axisName("y", index),
      x0,
      x1,
      y0: mark,
      y1: mark,
      line,
    },
  ];
}

/**
 * Range and ticks of the values of a panel; a logarithmic one grows by whole decades.
 * @param height px, for the count of ticks
 */
export function valueAxis(
  {
    range,
    ticks = [],
    percent,
    ceilings,
    log,
  }: Pick<Panel, "range" | "ticks" | "percent" | "ceilings" | "log">,
  lines: Pick<Line, "y">[],
  height = 200,
) {
  const values = lines.flatMap((line) => line.y).filter((value) => value !== null);
  if (range) {
    const ticktext = ticks.map((tick) => (percent ? `${100 * tick} %` : String(tick)));
    return { range: [range[0], range[1] * 1.03], tickvals: ticks, ticktext };
  }
  if (ceilings) {
    const most = Math.max(...values, 0);
    const top = ceilings.find((ceiling) => most <= ceiling) ?? ceilings[ceilings.length - 1];
    return { range: [0, top * 1.03], tickvals: [0, top / 2, top] };
  }
  if (log) {
    const positive = values.filter((value) => value > 0).map(Math.log10);
    const low = positive.length ? Math.floor(Math.min(...positive)) : -2;
    const high = positive.length ? Math.ceil(Math.max(...positive)) : 1;
    const decades = Array.from({ length: Math.max(high - low, 1) + 1 }, (_, index) => low + index);
    const every = Math.ceil((decades.length * TICK_PITCH) / height);
    const labelled = decades.filter((_, index) => index % every === 0);
    const tickvals = labelled.map((decade) => 10 ** decade);
    const ticktext = labelled.map((decade) =>
      decade < -3 ? `1e${decade}` : String(Number(`1e${decade}`)),
    );
    return { type: "log", range: [low, decades[decades.length - 1]], tickvals, ticktext };
  }
  const most = Math.max(...values, 0) || 1;
  return { range: [0, most * 1.08], nticks: 4 };
}
