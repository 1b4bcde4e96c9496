import type { Chart } from "../../dom/js/plotly.ts";
import type { Strings } from "../../dom/js/sentences.ts";
import { css, mix, type Palette } from "../../page/js/palette.ts";

export const SCREEN_TYPE = { desk: 12, projector: 18 }; // px

/** What `chart_payload.py` sends. */
export interface ChartContent {
  language: string;
  strings: Strings;
  project: string; // name and version
  name: string; // of the chart, for those who do not see it
  title: string; // of the figure that is saved,
  captions: string[]; // and the lines below it
  file_name: string; // without its ending
  picks: boolean; // whether a click on a point is reported
  chart: {
    data: { name?: string; showlegend?: boolean }[];
    layout: ChartLayout;
  };
}

/** Where it has annotations, these are the names of lines, in the right margin. */
interface ChartLayout {
  height: number; // px, without a legend
  least_width?: number; // px, with labels as large as at a desk
  showlegend?: boolean; // whether the names of lines are in a legend in any case
  margin?: { l: number; r: number; t: number; b: number; autoexpand?: boolean }; // px
  [setting: string]: unknown;
}

interface Axis {
  title?: object;
  tickvals?: number[];
  ticktext?: string[];
}

export function readChart(bytes: Uint8Array): ChartContent {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Every n-th of the numbers of an axis, the last one among them, where not all have room. */
function thinned({ tickvals = [], ticktext = tickvals.map(String) }: Axis, most: number) {
  if (!tickvals.length) return {};
  const every = Math.ceil(tickvals.length / most);
  const kept = (_: unknown, index: number) => (tickvals.length - 1 - index) % every === 0;
  return { tickvals: tickvals.filter(kept), ticktext: ticktext.filter(kept), tickangle: 0 };
}

const MOST_MARGIN = 0.25; // of the width; a wider margin leaves the lines too little
const EDGE = 12; // px right of a plot without names
const LETTER = 0.6; // width of a letter in a legend, in sizes of the type,
const WIDE_LETTER = 1; // and of a Chinese one,
const SAMPLE = 40; // px of the line before a name,
const NAME_GAP = 5; // and between two names, as Plotly has them
const ENTRY_LINE = 1.6; // height of a line of names, in sizes of the type,
const LEGEND_EDGES = 10; // and px above and below all of them

/** The width of a name in a legend, in sizes of the type. */
function widthOf(name: string) {
  const widths = [...name].map((letter) => (letter > "\u2e80" ? WIDE_LETTER : LETTER));
  return widths.reduce((sum, width) => sum + width, 0);
}

/**
 * How many of the names stand side by side, by Plotly's own count: it breaks a line that would be as
 * long as its room.
 * @param entry px of a name
 */
function namesAcross(entry: number, room: number) {
  return Math.max(1, Math.ceil((room + NAME_GAP) / (entry + SAMPLE + NAME_GAP)) - 1);
}

/**
 * The layout where lines have a legend: in any case, or because their names, at their ends, would take
 * much of a narrow chart. It is below the plot, and the chart is higher by its lines. Plotly would find
 * room for a legend itself (`autoexpand`), but keeps that of the earlier width at another one.
 * @param given.scrolls whether a part of the chart is in view; then the names are one below the other,
 *   so that they are in view whatever the part
 */
function withRoom(
  { data, layout }: ChartContent["chart"],
  { width, type, scrolls }: { width: number; type: number; scrolls: boolean },
): ChartLayout {
  const { margin, height, showlegend } = layout;
  const narrow = margin && margin.r > MOST_MARGIN * width;
  if (!margin || !(narrow || showlegend)) return layout;
  const { l, t, b } = margin;
  const r = narrow ? EDGE : margin.r;
  const names = data.flatMap(({ name, showlegend }) => (showlegend === false ? [] : (name ?? [])));
  const longest = Math.ceil(type * Math.max(...names.map(widthOf)));
  const entry = scrolls ? Math.max(longest, Math.ceil(width / 2)) : longest; // no two in a line
  const lines = Math.ceil(names.length / namesAcross(entry, width - r));
  const below = Math.ceil(lines * ENTRY_LINE * type) + LEGEND_EDGES;
  return {
    ...layout,
    height: height + below,
    margin: { ...margin, r, b: b + below, autoexpand: false },
    annotations: [],
    showlegend: true,
    legend: {
      orientation: "h",
      entrywidth: entry,
      ...{ x: -l / (width - l - r), y: -b / (height - t - b), yanchor: "top" }, // of the plot
      ...{ itemclick: false, itemdoubleclick: false },
    },
  };
}

/**
 * A chart in the colours of a theme; the lines have colours that can be read on light and on dark.
 * @param given.room px; a chart that needs more is wider
 * @param given.type px
 * @param given.scrolls whether one that is wider scrolls; a saved one is whole
 */
export function inColours(
  { data, layout: { least_width = 0, ...given } }: ChartContent["chart"],
  palette: Palette,
  { room, type, scrolls = true }: { room: number; type: number; scrolls?: boolean },
): Chart {
  const width = Math.max(room, Math.ceil((least_width * type) / SCREEN_TYPE.desk));
  const places = { width, type, scrolls: scrolls && width > room };
  const layout = withRoom({ data, layout: given }, places);
  const ink = css(palette.ink);
  const font = { family: palette.font, size: type, color: ink };
  const line = css(mix(palette.paper, palette.ink, 0.15));
  const spike = { spikethickness: 1, spikedash: "dot", spikecolor: ink };
  const looks = { gridcolor: line, linecolor: line, zerolinecolor: line, ...spike };
  const { l = 0, r = 0 } = layout.margin ?? {};
  const axes = Object.entries(layout)
    .filter(([name]) => /^[xy]axis\d*$/.test(name))
    .map(([name, given]) => {
      const axis = given as Axis;
      const ticks = name.startsWith("x") ? thinned(axis, (width - l - r) / (2 * type)) : {};
      return [name, { ...looks, ...axis, ...ticks, title: { ...axis.title, font } }];
    });
  return {
    data,
    layout: {
      ...layout,
      ...Object.fromEntries(axes),
      width,
      font,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: css(palette.paper), bordercolor: line, font },
    },
  };
}
