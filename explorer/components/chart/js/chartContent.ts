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
    data: object[];
    layout: { height: number; margin?: { l: number; r: number }; [setting: string]: unknown };
  };
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

/**
 * A chart in the colours of a theme; the lines have colours that can be read on light and on dark.
 * @param given.width px
 * @param given.type px
 */
export function inColours(
  { data, layout }: ChartContent["chart"],
  palette: Palette,
  { width, type }: { width: number; type: number },
): Chart {
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
