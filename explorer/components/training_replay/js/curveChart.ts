import { type Chart, plain } from "../../dom/js/plotly.ts";
import { shortLabel } from "../../figure/js/figureText.ts";
import { measuringPen } from "../../map/js/geometry.ts";
import { css, mix } from "../../page/js/palette.ts";
import {
  type Box,
  LONGEST_NAME,
  panelBoxes,
  roomForNames,
  type Size,
  TYPE,
  valueAxis,
} from "./curveAxes.ts";
import type { CurveContext, Line, Panel } from "./curvePanels.ts";
import { endLabels, labelNote } from "./endLabels.ts";

const LABEL_PITCH = 15 / TYPE; // from one name of a line to the next, in heights of the type
const STEP_ROOM = 60; // px that the number of a step needs
const MANY_POINTS = 80; // more are drawn without dots
const MOST_VALUES = 12; // under the pointer
const STAR = { light: "#2563c9", dark: "#7db2ff" };

/** What is drawn of the lines, and how large. */
interface CurveLayout {
  columns: number; // of panels
  size: Size;
  range: [number, number]; // of steps
  type: number; // px
  heading?: number; // lines above a panel
}

interface CurveChart extends Chart {
  layout: Chart["layout"] & { annotations: object[] };
  boxes: Box[];
}

/**
 * Panels of curves as one chart, and where they lie. The cursor is no part of it, so that scrubbing
 * does not draw it again.
 */
export function curveChart(shown: CurveContext, panels: Panel[], given: CurveLayout): CurveChart {
  const { columns, size, range, type, heading } = given;
  const { palette } = shown;
  const lines = panels.map((panel) => panel.lines(shown));
  const rooms = panels.map((panel, index) => ({
    ...panel,
    room: roomForNames(panel, lines[index], palette.font),
  }));
  const boxes = panelBoxes(rooms, columns, size, type, heading);
  const ink = css(palette.ink);
  const pen = measuringPen(`${type}px ${palette.font}`);
  const pitch = LABEL_PITCH * type;
  const labels = panels
    .flatMap((panel, index) => endLabels(panel, lines[index], boxes[index], range, pitch))
    .map((label) => ({
      ...label,
      name: shortLabel(pen, label.name, LONGEST_NAME * (type / TYPE)),
    }));
  const layout = {
    ...size,
    datarevision: revisionOf(shown.run),
    margin: { l: 0, t: 0, r: 0, b: 0, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: "x unified",
    hoversort: "value descending",
    hoverlabel: {
      bgcolor: css(palette.paper),
      font: { family: palette.font, size: type, color: ink },
    },
    font: { family: palette.font, size: type, color: css(mix(palette.ink, palette.paper, 0.2)) },
    shapes: panels.flatMap((panel, index) => markLine(shown, panel, index)),
    annotations: labels.map((label) => labelNote(label, size, ink)),
  };
  const axes = panels.map((panel, index) =>
    panelAxes(shown, panel, given, {
      index,
      lines: lines[index],
      box: boxes[index],
      lowest: index >= panels.length - columns,
    }),
  );
  const data = panels.flatMap((panel, index) => [
    ...panelLines(shown, panel, lines[index], index),
    ...bestStar(shown, panel, index),
  ]);
  return { data, layout: Object.assign(layout, ...axes), boxes };
}

const revisions: WeakMap<object, number> = new WeakMap();
let newest = 0;

/** A number of what a run has so far: of the same one Plotly draws looks anew, and no points. */
function revisionOf(run: CurveContext["run"]) {
  const known = revisions.get(run);
  if (known) return known;
  newest += 1;
  revisions.set(run, newest);
  return newest;
}

/** Plotly's name of an axis of a panel. */
function axisName(letter: "x" | "y", index: number) {
  return index ? `${letter}${index + 1}` : letter;
}

const axesOf = (index: number) => ({ xaxis: axisName("x", index), yaxis: axisName("y", index) });

/** The lines of a panel; without one Plotly draws no axes. */
function panelLines({ say }: CurveContext, panel: Panel, lines: Line[], index: number) {
  if (lines.length === 0) return [{ type: "scatter", x: [], y: [], ...axesOf(index) }];
  const lasts = lines.map(({ y }) => y.filter((value) => value !== null).at(-1) ?? 0);
  const least =
    [...lasts].sort((one, other) => other - one)[MOST_VALUES - 1] ?? Number.NEGATIVE_INFINITY;
  return lines.map(({ name, mine, x, y, colour, width, dash }, place) => {
    const dots = x.length <= MANY_POINTS && width >= 1.5 && !dash;
    return {
      type: "scatter",
      name: plain(name || say(panel.name)),
      mode: dots ? "lines+markers" : "lines",
      x,
      y,
      ...axesOf(index),
      cliponaxis: false,
      line: { color: colour, width, dash: dash ?? "solid" },
      marker: { color: colour, size: 4 },
      hoverinfo: mine || lasts[place] >= least ? "all" : "skip",
    };
  });
}

/** The best moment. */
export function bestMoment({ moments, best }: CurveContext["run"]) {
  return moments.length > 1 ? moments.find(({ step }) => step === best) : undefined;
}

/** The mark of the best moment, on the panel that has it. */
function bestStar({ run, palette }: CurveContext, { starred }: Panel, index: number) {
  const best = starred && bestMoment(run);
  if (!best || best.held_out === null) return [];
  const color = STAR[palette.dark ? "dark" : "light"];
  const line = { color: css(palette.paper), width: 1 };
  const marker = { symbol: "star", size: 14, color, line };
  const place = { x: [best.step], y: [best.held_out] };
  return [
    { type: "scatter", mode: "markers", ...place, marker, hoverinfo: "skip", ...axesOf(index) },
  ];
}

/**
 * The two axes of a panel.
 * @param placed.index of the panel
 * @param placed.lowest whether no panel is below it
 */
function panelAxes(
  { palette, say }: CurveContext,
  panel: Panel,
  { columns, size, range, type }: CurveLayout,
  { index, lines, box, lowest }: { index: number; lines: Line[]; box: Box; lowest: boolean },
) {
  const grid = css(mix(palette.paper, palette.ink, 0.12));
  const [x, y] = [axisName("x", index), axisName("y", index)];
  const shared = { zeroline: false, gridcolor: grid, linecolor: grid, showline: true };
  return {
    [`xaxis${x.slice(1)}`]: {
      ...shared,
      domain: [box.left / size.width, (box.left + box.width) / size.width],
      anchor: y,
      range,
      ...(index ? { matches: "x" } : {}),
      showgrid: false,
      nticks: Math.max(2, Math.min(6, Math.floor(box.width / STEP_ROOM))),
      tickangle: 0,
      showticklabels: columns > 1 || lowest,
      title: lowest ? { text: plain(say("step_axis")), standoff: 0, font: { size: type } } : {},
      ...{
        spikethickness: 1,
        spikedash: "dot",
        spikecolor: css(mix(palette.paper, palette.ink, 0.5)),
      },
      unifiedhovertitle: { text: `${plain(say("step_axis"))} %{x}` },
    },
    [`yaxis${y.slice(1)}`]: {
      ...shared,
      fixedrange: true,
      domain: [1 - (box.top + box.height) / size.height, 1 - box.top / size.height],
      anchor: x,
      hoverformat: panel.hover ?? ".3~r",
      ...valueAxis(panel, lines, box.height),
    },
  };
}

/** The horizontal line of a panel, if it has one. */
function markLine({ palette }: CurveContext, { mark }: Panel, index: number) {
  if (!mark) return [];
  const line = { color: css(mix(palette.paper, palette.ink, 0.5)), width: 1, dash: "dot" };
  const across = { xref: `${axisName("x", index)} domain`, x0: 0, x1: 1 };
  return [{ type: "line", ...across, yref: axisName("y", index), y0: mark, y1: mark, line }];
}
