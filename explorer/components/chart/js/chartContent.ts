import type { Chart } from "../../dom/js/plotly.ts";
import type { Strings } from "../../dom/js/sentences.ts";
import { css, mix, type Palette } from "../../page/js/palette.ts";

/** What `chart_payload.py` sends. */
export interface ChartContent {
  language: string;
  strings: Strings;
  project: string; // name and version
  name: string; // of the chart, for those who do not see it
  title: string; // of the figure that is saved,
  captions: string[]; // and the lines below it
  file_name: string; // without its ending
  chart: {
    data: { name?: string; showlegend?: boolean }[];
    layout: Layout;
  };
}

/** Where it has annotations, these are the names of lines, in the right margin. */
interface Layout {
  height: number; // px
  margin?: { l: number; r: number; t: number; b: number }; // px
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
const ENTRY = 7; // widths of a name in a legend, in sizes of the type,
const SAMPLE = 40; // and px of the line before it
const ENTRY_LINE = 1.5;

/**
 * The layout where the names of the lines, at their ends, would take much of a narrow chart: they
 * stand in a legend below, for which the chart is higher.
 */
function withRoom(
  { data, layout }: ChartContent["chart"],
  { width, type }: { width: number; type: number },
): Layout {
  const { margin, height } = layout;
  if (!margin || margin.r <= MOST_MARGIN * width) return layout;
  const { l, t, b } = margin;
  const names = data.filter(({ name, showlegend }) => name && showlegend !== false).length;
  const across = Math.max(1, Math.floor(width / (ENTRY * type + SAMPLE)));
  const below = Math.ceil(names / across) * ENTRY_LINE * type;
  return {
    ...layout,
    height: height + below,
    margin: { ...margin, r: EDGE, b: b + below },
    annotations: [],
    showlegend: true,
    legend: {
      orientation: "h",
      entrywidth: ENTRY * type,
      ...{ x: -l / (width - l - EDGE), y: -b / (height - t - b), yanchor: "top" }, // of the plot
      ...{ itemclick: false, itemdoubleclick: false },
    },
  };
}

/**
 * A chart in the colours of a theme; the lines have colours that can be read on light and on dark.
 * @param given.width px
 * @param given.type px
 */
export function inColours(
  chart: ChartContent["chart"],
  palette: Palette,
  { width, type }: { width: number; type: number },
): Chart {
  const layout = withRoom(chart, { width, type });
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
    data: chart.data,
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
