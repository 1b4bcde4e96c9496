import { maskColour, type Palette, rampStops } from "../../page/js/palette.ts";
import { UNMASKED } from "../../trace/js/look.ts";
import { shownHead, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type Geometry, rangesOf, wholeRange } from "./geometry.ts";
import { isLargeMap } from "./largeMap.ts";
import { MASK_CODES } from "./pattern.ts";

const STOPS = 32; // of the colour scale

/** The weights and the masked cells of the selected head as Plotly heatmaps. */
function figureData(context: TraceContext, tone: Float32Array) {
  const { state, palette } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, shownHead(state));
  const table = (value: (cell: number) => number | null) =>
    Array.from({ length: site.queries }, (_, query) =>
      Array.from({ length: site.keys }, (_, key) => value(query * site.keys + key)),
    );
  const shared = { type: "heatmap", hoverinfo: "skip", showscale: false, zmin: 0, zmax: 1 };
  const weights = table((cell) => (masked[cell] ? null : tone[cell]));
  const data: object[] = [{ ...shared, z: weights, colorscale: rampStops(palette.ramp, STOPS) }];
  if (masked.some((code) => code !== UNMASKED)) {
    const codes = table((cell) => (masked[cell] ? masked[cell] : null));
    data.push({
      ...shared,
      z: codes,
      colorscale: plotlyGreys(palette),
      zmin: 0.5,
      zmax: MASK_CODES.length + 0.5,
    });
  }
  return data;
}

/** Flat greys, one a mask code. */
function plotlyGreys(palette: Palette) {
  const last = MASK_CODES.length;
  return MASK_CODES.flatMap((code) => [
    [(code - 1) / last, maskColour(palette.masked, code)],
    [code / last, maskColour(palette.masked, code)],
  ]);
}

/**
 * The figure on screen: cells only, and none of a large map, which a canvas has. Labels and the current step are drawn over it, because they
 * change at every step and the cells do not.
 */
export function liveFigure(context: TraceContext, geometry: Geometry, tone: () => Float32Array) {
  const site = siteOf(context);
  const { zoom } = context.state;
  const axis = { showgrid: false, zeroline: false, showticklabels: false, ticks: "" };
  const { x, y } = wholeRange(site);
  const shown = zoom ? rangesOf(zoom) : { x, y };
  const { box, left, top, width, height } = geometry;
  const layout = {
    width: box.width,
    height: box.height,
    margin: { l: left, t: top, r: box.width - left - width, b: box.height - top - height, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hovermode: false,
    dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    xaxis: { ...axis, range: [...shown.x], minallowed: x[0], maxallowed: x[1] },
    yaxis: { ...axis, range: [...shown.y].reverse(), minallowed: y[0], maxallowed: y[1] },
  };
  return { data: isLargeMap(site) ? [] : figureData(context, tone()), layout };
}
