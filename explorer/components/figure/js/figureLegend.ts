import { drawn } from "../../dom/js/drawing.ts";
import { linksOf } from "../../map/js/alignment.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { MASK_CODES, maskedFills } from "../../map/js/pattern.ts";
import { type Colour, css, type Palette, rampStops } from "../../page/js/palette.ts";
import { type Scale, scaleMarks, scaleOf } from "../../trace/js/scale.ts";
import {
  currentRow,
  shownHead,
  shownKeys,
  shownMethod,
  shownRows,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { figurePen, LINE, MARGIN, TYPE, widthOf } from "./figureText.ts";

const BAR = { width: 200, height: 12 }; // px
const SWATCH = { width: 22, height: 13 }; // px
const STEPS = 16; // of the colour bar
const GAP = 8; // px

/** The codes of the masked cells that are shown. */
export function shownCodes(context: TraceContext) {
  const { state } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, shownHead(state));
  const keys = shownKeys(context);
  const cells = shownRows(context) * site.keys;
  return MASK_CODES.filter((code) =>
    masked.subarray(0, cells).some((found, cell) => found === code && cell % site.keys < keys),
  );
}

/**
 * A bar of colours with its name and its numbers.
 * @param top px
 * @param given.name of what the colours mean
 * @param given.ramp by which name the drawing knows the colours
 * @param given.marks tone 0..1, number
 * @returns px, the end of the bar; a line of numbers is below it
 */
export function addBar(
  figure: SVGElement,
  palette: Palette,
  top: number,
  {
    name,
    ramp: [id, ramp],
    marks,
  }: { name: string; ramp: [string, Colour[]]; marks: [number, string][] },
): number {
  const stops = rampStops(ramp, STEPS).map(([offset, colour]) =>
    drawn("stop", { offset, "stop-color": colour }),
  );
  const left = MARGIN + textWidth(figurePen(), name) + 2 * GAP;
  const width = Math.min(BAR.width, widthOf(figure) - MARGIN - left - GAP); // the last number is wider
  const looks = { fill: `url(#${id})`, stroke: css(palette.ink), "stroke-width": 0.5 };
  figure.append(
    drawn("defs", {}, drawn("linearGradient", { id }, ...stops)),
    drawn("text", { x: MARGIN, y: top + TYPE * 0.85 }, name),
    drawn("rect", { x: left, y: top, width, height: BAR.height, ...looks }),
    ...marks.map(([tone, text]) => {
      const place = { x: left + tone * width, y: top + BAR.height + TYPE };
      return drawn("text", { ...place, "text-anchor": "middle" }, text);
    }),
  );
  return top + BAR.height;
}

/** What the colours of the map on screen mean. */
function scaleName(context: TraceContext, scale: Scale) {
  return `${context.say(shownMethod(context) ?? "weight")} (${context.say(`scale_${scale}`)})`;
}

/**
 * What marks mean: a swatch and a text each.
 * @param codes of masked cells
 */
function marks(
  context: TraceContext,
  codes: number[],
): [Record<string, string | number>[], string][] {
  const { say, palette, trace } = context;
  const found: [Record<string, string | number>[], string][] = codes.map((code) => {
    const reason = say(`reason_${trace.header.reasons[code].replaceAll(" ", "_")}`);
    return [maskedFills(palette, code).map((fill) => ({ fill })), say("figure_masked", { reason })];
  });
  const frame = { fill: "none", stroke: css(palette.query), "stroke-width": 2 };
  if (currentRow(context) >= 0) found.push([[frame], say("figure_current")]);
  if (linksOf(context).some((key) => key >= 0)) {
    const corners = { fill: "none", stroke: css(palette.ink), "stroke-width": 2 };
    found.push([[{ ...corners, "stroke-dasharray": "6 10 9 10 9 10 9 10" }], say("figure_link")]);
  }
  return found;
}

/**
 * Colour bar and marks.
 * @param top px
 * @param given.codes of the masked cells, of one head or several
 * @returns px, its end
 */
export function addLegend(
  figure: SVGElement,
  context: TraceContext,
  top: number,
  { codes = shownCodes(context) }: { codes?: number[] } = {},
): number {
  const { palette, state } = context;
  const site = siteOf(context);
  const scale = scaleOf(state, site);
  const end = addBar(figure, palette, top, {
    name: scaleName(context, scale),
    ramp: ["ramp", palette.ramp],
    marks: scaleMarks(scale, site.scale),
  });
  const pen = figurePen();
  let [x, y] = [MARGIN, end + 2 * LINE];
  for (const [swatches, text] of marks(context, codes)) {
    const width = SWATCH.width + GAP + textWidth(pen, text);
    if (x > MARGIN && x + width > widthOf(figure) - MARGIN) [x, y] = [MARGIN, y + LINE];
    figure.append(
      ...swatches.map((looks) => drawn("rect", { x, y: y - TYPE * 0.85, ...SWATCH, ...looks })),
      drawn("text", { x: x + SWATCH.width + GAP, y }, text),
    );
    x += width + 3 * GAP;
  }
  return y + GAP;
}
