import { shortValue } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { beginFigure, endFigure } from "../../figure/js/figureSheet.ts";
import {
  addParagraph,
  drawn,
  FONT,
  figurePen,
  LINE,
  MARGIN,
  shortLabel,
  TYPE,
  widthOf,
} from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { css, mix, printPalette } from "../../page/js/palette.ts";
import type { Box } from "./curveFigure.ts";
import { heightOf, valueAxis } from "./curveFigure.ts";
import type { Line, Panel } from "./curvePanels.ts";
import { headingOf } from "./curves.ts";
import { endLabels } from "./endLabels.ts";
import { niceTicks } from "./niceTicks.ts";
import type { ReplayContext } from "./replayContext.ts";

const HEIGHT = 120; // px of a panel
const AXIS = 44; // px left of a panel, for the numbers of its axis
const LONGEST_NAME = 86; // px of the name of a line
const BOLD = 1.1; // width of a bold name to that of a plain one
const AHEAD = 8; // px from a line to its name
const PITCH = 14; // px between two names
const DASHES = { dash: "6 4", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4" };

/**
 * The curves of a training as a figure that explains itself, one panel below the other.
 * @param width px
 * @returns null as long as there is no moment
 */
export function curvesFigure(replay: ReplayContext, panels: Panel[], width: number): Figure | null {
  const { run, say } = replay;
  if (run.moments.length === 0) return null;
  const context = { ...replay, palette: printPalette(FONT) };
  const figure = beginFigure(context.palette, run.language, width);
  const title = say("figure_curves", { run: run.name });
  let end = addParagraph(figure, title, MARGIN, { heading: true });
  for (const text of captions(context)) end = addParagraph(figure, text, end + 2);
  const room = roomForNames(panels.flatMap((panel) => panel.lines(context)));
  for (const panel of panels) end = addPanel(figure, context, panel, { top: end + LINE / 2, room });
  return endFigure(figure, context.palette, run.project, end);
}

/** The settings of the run and what the star is. */
function captions({ run, say }: ReplayContext) {
  const moments = say("figure_moments", {
    count: run.moments.length,
    step: run.moments.at(-1)?.step ?? 0,
  });
  return [run.settings.demo, moments].filter(Boolean);
}

/** px that the names of lines take at their right ends. */
function roomForNames(lines: Pick<Line, "name">[]) {
  const pen = figurePen();
  const widths = lines.filter(({ name }) => name).map(({ name }) => textWidth(pen, name));
  return widths.length ? AHEAD + Math.min(LONGEST_NAME, Math.max(...widths) * BOLD) : 0;
}

/**
 * One panel with its heading, axes, lines and their names.
 * @param space px; `room`: right of the panel, for the names of its lines
 * @returns px, its end
 */
function addPanel(
  figure: SVGElement,
  context: ReplayContext,
  panel: Panel,
  { top, room }: { top: number; room: number },
): number {
  const { palette, say, run } = context;
  const lines = panel.lines(context);
  const left = MARGIN + AXIS;
  const box = {
    left,
    top: top + 1.4 * LINE,
    width: widthOf(figure) - left - MARGIN - room,
    height: HEIGHT * (panel.weight ?? 1),
  };
  const range = context.range();
  const heading = { x: MARGIN, y: top + TYPE, "font-weight": 600 };
  figure.append(drawn("text", heading, say(headingOf(run, panel))));
  figure.append(...valueTicks(context, panel, lines, box), ...stepTicks(context, box, range));
  const axis = valueAxis(panel, lines, box.height);
  for (const line of lines) figure.append(path(line, box, axis, range));
  for (const label of endLabels(panel, lines, box, range, PITCH)) {
    const { name, colour, mine, left: x, wanted, top: y } = label;
    const d = `M${x + 1} ${wanted}L${x + AHEAD - 2} ${y}`;
    figure.append(drawn("path", { d, stroke: colour, fill: "none" }));
    const text = shortLabel(figurePen(), name, LONGEST_NAME);
    const place = { x: x + AHEAD, y: y + TYPE * 0.35 };
    const looks = mine ? { "font-weight": 600 } : {};
    figure.append(drawn("text", { ...place, ...looks, fill: css(palette.ink) }, text));
  }
  const bottom = box.top + box.height + 2.2 * LINE;
  const place = { x: box.left + box.width / 2, y: bottom - 4, "text-anchor": "middle" };
  figure.append(drawn("text", place, say("step_axis")));
  return bottom;
}

/**
 * A line; it has a gap where a moment has no value.
 * @param range of steps
 */
function path(
  { x, y, colour, width, dash }: Line,
  box: Box,
  axis: { type?: string; range: number[] },
  [low, high]: [number, number],
) {
  let d = "";
  let pen = "M";
  y.forEach((value, index) => {
    const down = value === null ? null : heightOf(box, axis, value);
    if (down === null) {
      pen = "M";
      return;
    }
    const across = box.left + ((x[index] - low) / (high - low)) * box.width;
    d += `${pen}${across.toFixed(1)} ${down.toFixed(1)}`;
    pen = "L";
  });
  const dashes = DASHES[dash as keyof typeof DASHES] ?? "none";
  const looks = { stroke: colour, "stroke-width": width, "stroke-dasharray": dashes };
  return drawn("path", { d, fill: "none", ...looks });
}

/** The frame of a panel, the numbers of its values, and the line of its mark. */
function valueTicks({ palette }: ReplayContext, panel: Panel, lines: Line[], box: Box) {
  const axis = valueAxis(panel, lines, box.height);
  const values = axis.tickvals ?? niceTicks([axis.range[0], axis.range[1]], axis.nticks ?? 4);
  const grey = css(mix(palette.paper, palette.ink, 0.25));
  const edge = drawn("rect", { ...place(box), fill: "none", stroke: grey });
  const heightAt = (value: number) => heightOf(box, axis, value) ?? box.top;
  const texts = values.map((value, index) => {
    const text = axis.ticktext?.[index] ?? shortValue(value);
    const at = { x: box.left - 6, y: heightAt(value) + TYPE * 0.35, "text-anchor": "end" };
    return drawn("text", at, text);
  });
  const strokes = values.map((value) =>
    drawn("path", {
      d: `M${box.left} ${heightAt(value)}h${box.width}`,
      stroke: grey,
      opacity: 0.5,
    }),
  );
  if (panel.mark === undefined) return [edge, ...strokes, ...texts];
  const d = `M${box.left} ${heightAt(panel.mark)}h${box.width}`;
  const mark = drawn("path", { d, stroke: css(palette.ink), "stroke-dasharray": "2 3" });
  return [edge, ...strokes, mark, ...texts];
}

/** The numbers of the steps below a panel. */
function stepTicks({ palette }: ReplayContext, box: Box, range: [number, number]) {
  const [low, high] = range;
  const bottom = box.top + box.height;
  return niceTicks(range, Math.max(2, Math.floor(box.width / 70))).flatMap((step) => {
    const x = box.left + ((step - low) / (high - low)) * box.width;
    const text = { x, y: bottom + TYPE + 3, "text-anchor": "middle" };
    return [
      drawn("path", { d: `M${x} ${bottom}v3`, stroke: css(palette.ink) }),
      drawn("text", text, String(step)),
    ];
  });
}

function place({ left, top, width, height }: Box) {
  return { x: left, y: top, width, height };
}
