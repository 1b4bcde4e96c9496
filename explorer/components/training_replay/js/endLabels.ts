import { plain } from "../../dom/js/plotly.ts";
import { type Box, heightOf, type Size, valueAxis } from "./curveAxes.ts";
import type { Line, Panel } from "./curvePanels.ts";

/** px; `wanted`: the height of the line's end, `apart`: whether the line ends before the others */
type EndLabel = {
  name: string;
  colour: string;
  mine: boolean;
  left: number;
  apart: boolean;
  wanted: number;
  top: number;
};

const AHEAD = 12; // px from the end of a line to its label
const CLOSEST = 0.84; // of the pitch, where there is little room

/**
 * The names of the lines of a panel at their right ends, the leaders to them not crossing.
 * @param range of steps
 * @param pitch px between two labels
 */
export function endLabels(
  panel: Panel,
  lines: Line[],
  box: Box,
  range: [number, number],
  pitch: number,
): EndLabel[] {
  const axis = valueAxis(panel, lines);
  const ends = lines.flatMap(({ name, colour, mine = false, x, y }) => {
    const last = y
      .map((value, index) => value !== null && x[index] >= range[0] && x[index] <= range[1])
      .lastIndexOf(true);
    const wanted = last < 0 || !name ? null : heightOf(box, axis, y[last] as number);
    if (wanted === null) return [];
    const left = box.left + ((x[last] - range[0]) / (range[1] - range[0])) * box.width;
    return [{ name, colour, mine, left, apart: false, wanted, top: wanted }];
  });
  const right = Math.max(...ends.map(({ left }) => left));
  for (const label of ends) {
    label.apart = label.left < right - 1;
    label.left = right;
  }
  const [top, bottom] = [box.top - 5, box.top + box.height + 5];
  const closer = Math.max((bottom - top) / ends.length, CLOSEST * pitch);
  return spread(ends, top, bottom, Math.min(pitch, closer));
}

/**
 * A label as a note of Plotly: its arrow leads from the end of the line to the name. Of a line that
 * ends before the others it is level, so that it crosses none of them.
 * @param size of the figure
 * @param ink of the text
 */
export function labelNote(
  { name, colour, mine, left, apart, wanted, top }: EndLabel,
  size: Size,
  ink: string,
) {
  const from = apart ? top : wanted;
  return {
    ...at(size, left, from),
    text: plain(name),
    ax: AHEAD,
    ay: top - from,
    arrowhead: 0,
    arrowwidth: 1.5,
    arrowcolor: colour,
    standoff: 2,
    borderpad: 2,
    xanchor: "left",
    font: { color: ink, weight: mine ? 700 : 400 },
  };
}

/** A place of a note of Plotly, px from the upper left corner of the figure. */
export function at({ width, height }: Size, left: number, top: number) {
  return { xref: "paper", yref: "paper", x: left / width, y: 1 - top / height };
}

/**
 * Labels one below the other, each as near to the end of its line as the others allow. Where not
 * all fit, the selected one and the uppermost are kept.
 * @param top of the space, px
 * @returns from top to bottom; `top` is the middle of a label
 */
export function spread<Label extends { mine: boolean; wanted: number; top: number }>(
  labels: Label[],
  top: number,
  bottom: number,
  pitch: number,
): Label[] {
  const most = Math.max(1, Math.floor((bottom - top) / pitch));
  const kept = [...labels]
    .sort((one, other) => Number(other.mine) - Number(one.mine) || one.wanted - other.wanted)
    .slice(0, most)
    .sort((one, other) => one.wanted - other.wanted);
  let lowest = top + pitch / 2;
  for (const label of kept) {
    label.top = Math.max(label.wanted, lowest);
    lowest = label.top + pitch;
  }
  let highest = bottom - pitch / 2;
  for (const label of [...kept].reverse()) {
    label.top = Math.min(label.top, highest);
    highest = label.top - pitch;
  }
  return kept;
}
