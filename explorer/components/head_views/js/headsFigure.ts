import { shortNumber } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { addPanels } from "../../figure/js/figurePanels.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, LINE } from "../../figure/js/figureText.ts";
import { printPalette } from "../../page/js/palette.ts";
import { shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type FilteredHead, filteredHeads, type HeadFilter, metricShown } from "./headFilter.ts";
import { numberLine } from "./headRoles.ts";
import type { ViewFrame } from "./viewFrame.ts";

const ACROSS = 8; // panels beside each other, where heads are sorted or very many

/**
 * All heads of the attention on screen as a figure that explains itself: layers as rows and heads
 * as columns, or the heads that pass a filter by their number.
 * @param width px
 * @returns null where no head passes
 */
export function headsFigure(
  given: TraceContext,
  frame: ViewFrame,
  filter: HeadFilter,
  width: number,
): Figure | null {
  const heads = picturedHeads(given, frame, filter);
  if (heads.length === 0) return null;
  const palette = printPalette(FONT);
  const site = siteOf(given);
  const { figure, end, finish } = beginFigure(given.trace.header, {
    palette,
    title: frame.say("figure_heads", { site: given.say(`site_${given.state.site}`) }),
    captions: captions(given, frame, filter),
    width,
  });
  const rows = rowsOf(heads, filter.sorted ? Math.min(heads.length, ACROSS) : site.heads);
  const panels = {
    ...labels(given, rows, filter.sorted),
    shape: site,
    contextOf: (row: number, column: number) => {
      const one = rows[row][column];
      return one ? panelContext({ ...given, palette }, one) : null;
    },
  };
  return finish(addPanels(figure, end + LINE / 2, panels));
}

/** The heads of the figure: sorted by number those that pass the filter, by layer all. */
export function picturedHeads(context: TraceContext, frame: ViewFrame, filter: HeadFilter) {
  return filteredHeads(context, frame, filter).filter((one) => one.passes || !filter.sorted);
}

/** How to read a panel, what is under it, the model and the text. */
function captions(context: TraceContext, frame: ViewFrame, filter: HeadFilter) {
  const { state, say } = context;
  const metric = metricShown(frame, state.site, filter);
  return [
    `${say(`figure_axes_${state.site}`)} ${say("figure_weights")}`,
    metric ? numberLine(frame, metric) : "",
    ...figureOrigin(context),
  ];
}

/** The heads row by row; the last row may be shorter. */
function rowsOf(heads: FilteredHead[], across: number) {
  const count = Math.ceil(heads.length / across);
  return Array.from({ length: count }, (_, row) => heads.slice(row * across, (row + 1) * across));
}

/** The texts beside the panels. */
function labels(context: TraceContext, rows: FilteredHead[][], sorted: boolean) {
  const site = siteOf(context);
  const measured = rows.flat().some(({ number }) => number !== null);
  const numberOf = ({ number }: FilteredHead) => (number === null ? "–" : shortNumber(number));
  const nameOf = ({ layer, head }: FilteredHead) => shownName(context, layer, head);
  const below = (one: FilteredHead) =>
    [sorted ? nameOf(one) : "", measured ? numberOf(one) : ""].filter(Boolean).join(" ");
  return {
    facts: [""],
    columns: rows[0].map(({ head }) => [sorted ? "" : `H${head}`]),
    rows: rows.map(([one]) => (sorted ? "" : `L${site.numbers[one.layer]}`)),
    below: sorted || measured ? rows.map((row) => row.map(below)) : [],
  };
}

/**
 * The context of one head, as its thumbnail shows it: with all rows and without a current query.
 */
function panelContext(context: TraceContext, { layer, head }: FilteredHead): TraceContext {
  const { trace, state } = context;
  const site = siteOf(context);
  const shown = { layer, head, step: 0, alignment: "off" as const, ahead: true };
  const own = site.picture(layer, head);
  const one: Site = {
    ...site,
    queries: own.queries,
    keys: own.keys,
    widest: site.widest ?? site.keys, // of the whole head, by which the scale is chosen
    weights: () => own.weights,
    masked: () => own.masked,
  };
  return {
    ...context,
    trace: { ...trace, sites: { ...trace.sites, [site.name]: one } },
    state: { ...state, ...shown },
  };
}
