import { drawn } from "../../dom/js/drawing.ts";
import { signed } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureCells, type Places } from "../../figure/js/figureCells.ts";
import { addBar, addLegend, shownCodes } from "../../figure/js/figureLegend.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, figurePen, LINE, MARGIN, shortLabel, TYPE } from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { maskedFills } from "../../map/js/pattern.ts";
import {
  colourAt,
  css,
  inkOn,
  type Palette,
  printPalette,
  signedRamp,
} from "../../page/js/palette.ts";
import { shownName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { comparisonOrigin } from "./comparisonOrigin.ts";
import type { ViewFrame } from "./viewFrame.ts";

const BESIDE = 600; // px of a figure in which three maps stand beside each other
const LONGEST = 80; // px of a token at the left or above, before it is cut
const BESIDE_CELLS = 8; // px between a token and its cells
const GAP = 10; // px
const TALLEST = 30; // px of a row
const PRINTED = 34; // px that a signed number needs

/**
 * Two heads and the difference of their weights, as a figure that explains itself.
 * @param given of both traces
 * @param difference second minus first
 * @param width px
 */
export function pairFigure(
  given: TraceContext[],
  frame: ViewFrame,
  difference: Float32Array,
  width: number,
): Figure {
  const { header } = frame.payload;
  const [a, b] = header.names ?? ["", ""];
  const palette = printPalette(FONT);
  const contexts = given.map((context) => wholeMap(context, palette));
  const [own, other] = contexts.map((one) => shownName(one, one.state.layer, one.state.head));
  const { state, say } = contexts[0];
  const axes = say(`figure_axes_${state.site}`);
  let { figure, end, finish } = beginFigure(header, {
    palette,
    title: frame.say("figure_pair", { a, b, own, other }),
    captions: [axes, header.about ?? "", header.given ?? "", ...comparisonOrigin(given, frame)],
    width,
  });
  const names = [`${a} ${own}`, `${b} ${other}`, frame.say("pair_heading", { own, other })];
  const room = roomFor(contexts);
  const beside = width >= BESIDE;
  const space = (width - 2 * MARGIN - (beside ? 2 * GAP : 0)) / (beside ? 3 : 1);
  let top = end + LINE / 2;
  names.forEach((name, index) => {
    const left = MARGIN + (beside ? index * (space + GAP) : 0);
    const context = contexts[Math.min(index, 1)];
    const places = addAxes(figure, index === 2 ? contexts[0] : context, name, {
      left,
      top,
      space,
      room,
    });
    if (index < 2) figure.append(...figureCells(context, places));
    else figure.append(...differenceCells(contexts[0], difference, places));
    figure.append(edge(context, places));
    end = places.top + places.down * siteOf(context).queries;
    if (!beside) top = end + LINE / 2;
  });
  const codes = [...new Set(contexts.flatMap(shownCodes))].sort();
  end = addLegend(figure, contexts[0], end + LINE, { codes });
  end = addBar(figure, palette, end + LINE / 2, {
    name: frame.say("pair_unit"),
    ramp: ["signed-ramp", signedRamp(palette)],
    marks: [
      [0, "−1"],
      [0.5, "0"],
      [1, "+1"],
    ],
  });
  return finish(end + 1.5 * LINE);
}

/** A context with all rows and without a current query, in the colours of print. */
function wholeMap(context: TraceContext, palette: Palette): TraceContext {
  const shown = { step: 0, alignment: "off" as const, ahead: true };
  return { ...context, palette, state: { ...context.state, ...shown } };
}

/**
 * The name of a map and its tokens; those for which there is no room are left out.
 * @param given px
 * @returns of its cells
 */
function addAxes(
  figure: SVGElement,
  context: TraceContext,
  name: string,
  { left, top, space, room }: { left: number; top: number; space: number; room: Room },
): Places {
  const site = siteOf(context);
  const pen = figurePen();
  const { beside, above } = room;
  const across = (space - beside) / site.keys;
  const down = Math.min(across, TALLEST);
  const places = { left: left + beside, top: top + LINE + above, across, down };
  figure.append(drawn("text", { x: left, y: top + TYPE }, shortLabel(pen, name, space)));
  site.queryTokens.forEach((token, query) => {
    if (query % Math.ceil(TYPE / down)) return;
    const y = places.top + (query + 0.5) * down + TYPE * 0.35;
    const at = { x: places.left - 5, y, "text-anchor": "end" };
    figure.append(drawn("text", at, shortLabel(pen, token, LONGEST)));
  });
  site.keyTokens.forEach((token, key) => {
    if (key % Math.ceil(TYPE / across)) return;
    const [x, y] = [places.left + (key + 0.5) * across + TYPE * 0.35, places.top - 5];
    const at = { x, y, transform: `rotate(-90 ${x} ${y})` };
    figure.append(drawn("text", at, shortLabel(pen, token, LONGEST)));
  });
  return places;
}

/** Pixels that the tokens need beside and above the cells, whose maps all begin at one height. */
type Room = { beside: number; above: number };

function roomFor(contexts: TraceContext[]): Room {
  const pen = figurePen();
  const longest = (tokens: string[]) =>
    Math.max(...tokens.map((token) => textWidth(pen, shortLabel(pen, token, LONGEST))));
  const [beside, above] = (["queryTokens", "keyTokens"] as const).map((side) =>
    Math.max(...contexts.map((context) => longest(siteOf(context)[side]))),
  );
  return { beside: beside + BESIDE_CELLS, above: above + BESIDE_CELLS };
}

function edge(context: TraceContext, { left, top, across, down }: Places) {
  const { keys, queries } = siteOf(context);
  const looks = { fill: "none", stroke: css(context.palette.ink), "stroke-width": 0.5 };
  return drawn("rect", { x: left, y: top, width: keys * across, height: queries * down, ...looks });
}

/**
 * The cells of the difference, with their numbers where there is room for them.
 * @param context of the first trace
 */
function differenceCells(
  context: TraceContext,
  values: Float32Array,
  { left, top, across, down }: Places,
) {
  const { palette, state } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, state.head);
  const ramp = signedRamp(palette);
  const found: SVGElement[] = [];
  values.forEach((value, cell) => {
    const [x, y] = [left + (cell % site.keys) * across, top + Math.floor(cell / site.keys) * down];
    const code = value === 0 ? masked[cell] : 0; // an intervention may have unmasked a cell
    const colour = colourAt(ramp, (value + 1) / 2);
    const fills = code ? maskedFills(palette, code) : [css(colour)];
    const box = { x, y, width: across, height: down, "shape-rendering": "crispEdges" };
    found.push(...fills.map((fill) => drawn("rect", { ...box, fill })));
    if (code || across < PRINTED || Math.abs(value) < 0.005) return;
    const at = { x: x + across / 2, y: y + down / 2 + TYPE * 0.35, "text-anchor": "middle" };
    found.push(drawn("text", { ...at, fill: inkOn(colour) }, signed(value).replace("0.", ".")));
  });
  return found;
}
