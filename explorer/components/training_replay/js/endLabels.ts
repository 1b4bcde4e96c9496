import { element, populate } from "../../dom/js/element.ts";
import type { Box } from "./curveFigure.ts";
import { heightOf, valueAxis } from "./curveFigure.ts";
import type { Line, Panel } from "./curvePanels.ts";

/** px; `wanted`: the height of the line's end, `apart`: whether the line ends before the others */
export type EndLabel = {
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
    const last = y.map((value) => value !== null).lastIndexOf(true);
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

/** An element with the labels of all panels, and how to draw them. */
export function createEndLabels(): { element: HTMLElement; draw: (labels: EndLabel[]) => void } {
  const node = element("div", { class: "end-labels", "aria-hidden": "true" });
  const leaders = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const names = element("div", {});
  leaders.setAttribute("class", "leaders");
  node.append(leaders, names);
  const draw = (labels: EndLabel[]) => {
    const texts = populate(names, labels.length, () => element("span", { class: "end-label" }));
    leaders.replaceChildren(...labels.map(leader));
    labels.forEach(({ name, mine, left, top }, index) => {
      texts[index].textContent = name;
      texts[index].title = name;
      texts[index].classList.toggle("mine", mine);
      texts[index].style.transform = `translate(${left + AHEAD + 2}px, ${top}px) translateY(-50%)`;
    });
  };
  return { element: node, draw };
}

/**
 * The stroke from the end of a line to its label, in the colour of the line; of a line that ends
 * before the others, a stroke beside its label, so that it crosses none of them.
 */
function leader({ colour, left, apart, wanted, top }: EndLabel) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const start = apart ? `M${left + 3},${top}` : `M${left + 2},${wanted}`;
  line.setAttribute("d", `${start}L${left + AHEAD - 3},${top}h3`);
  line.setAttribute("stroke", colour);
  return line;
}
