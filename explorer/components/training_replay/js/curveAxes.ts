import { measuringPen, textWidth } from "../../map/js/geometry.ts";
import type { Line, Panel } from "./curvePanels.ts";

export type Box = { left: number; top: number; width: number; height: number }; // px

export type Size = { width: number; height: number }; // px

export const TYPE = 13; // px, but for a projector
export const LONGEST_NAME = 116; // px
const MARGIN = { left: 50, right: 8, top: 26, bottom: 36 };
export const HEADING_LINE = 17; // px
const GAP = { across: 60, down: 30 };
const ROOM = 72; // px right of a panel for the names of its lines, at least
const TICK_PITCH = 17; // px between two decades

/**
 * px above, below and between the panels of a figure.
 * @param heading lines above a panel
 */
function roomAround(columns: number, type: number, heading: number) {
  const more = (heading - 1) * HEADING_LINE;
  const bottom = (MARGIN.bottom * type) / TYPE;
  const gap = GAP.down + more + (columns > 1 ? bottom - 8 : 0);
  return { top: MARGIN.top + more, bottom, gap };
}

/** px of a figure of panels below each other, each of them at least `least` px high. */
export function heightFor(
  panels: Pick<Panel, "weight">[],
  least: number,
  type: number,
  heading: number,
) {
  const { top, bottom, gap } = roomAround(1, type, heading);
  const weights = panels.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return top + bottom + gap * (panels.length - 1) + (least * total) / Math.min(...weights);
}

/**
 * Where every panel of a figure lies; the names of its lines have their room to the right.
 * @param type px
 * @param heading lines above a panel
 */
export function panelBoxes(
  panels: Pick<Panel, "weight" | "room">[],
  columns: number,
  { width, height }: Size,
  type = TYPE,
  heading = 1,
): Box[] {
  const rows = Math.ceil(panels.length / columns);
  const larger = type / TYPE;
  const [left, right] = [MARGIN.left * larger, MARGIN.right];
  const { top, bottom, gap } = roomAround(columns, type, heading);
  const across = (width - left - right - GAP.across * (columns - 1)) / columns;
  const weights = Array.from({ length: rows }, (_, row) => panels[row * columns].weight ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
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
  font: string,
) {
  if (!room) return 0;
  const pen = measuringPen(`${TYPE}px ${font}`);
  const longest = Math.max(0, ...lines.map(({ name }) => textWidth(pen, name ?? "")));
  return Math.max(room, Math.min(Math.ceil(longest), LONGEST_NAME) + MARGIN.right);
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
