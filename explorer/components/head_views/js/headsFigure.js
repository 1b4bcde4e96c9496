import { figureCells } from "../../shared/js/figureCells.js";
import { addLegend, shownCodes } from "../../shared/js/figureLegend.js";
import { figureOrigin } from "../../shared/js/figureOrigin.js";
import { beginFigure, endFigure } from "../../shared/js/figureSheet.js";
import {
  addParagraph,
  drawn,
  FONT,
  figurePen,
  LINE,
  MARGIN,
  widthOf,
} from "../../shared/js/figureText.js";
import { textWidth } from "../../shared/js/geometry.js";
import { css, printPalette } from "../../shared/js/palette.js";
import { placePanels } from "../../shared/js/panelLayout.js";
import { shownName, siteOf } from "../../shared/js/stepState.js";
import { FULL_WEIGHT } from "../../shared/js/trace.js";
import { filteredHeads, metricShown } from "./headFilter.js";
import { shortNumber } from "./numbers.js";

/** @import { Figure } from "../../shared/js/savedFile.js" */
/** @import { Picture, Site } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { FilteredHead, HeadFilter } from "./headFilter.js" */
/** @import { ViewFrame } from "./viewFrame.js" */
/** @import { HeadValues } from "./viewPayload.js" */

const ACROSS = 8; // panels beside each other, where heads are sorted or very many

/**
 * All heads of the attention on screen as a figure that explains itself: layers as rows and heads
 * as columns, or the heads that pass a filter by their number.
 * @param {TraceContext} given
 * @param {ViewFrame} frame
 * @param {HeadFilter} filter
 * @param {HeadValues | null} values drawn instead of the weights
 * @param {number} width px
 * @returns {Figure | null} null where no head passes
 */
export function headsFigure(given, frame, filter, values, width) {
  const heads = filteredHeads(given, frame, filter).filter((one) => one.passes || !filter.sorted);
  if (heads.length === 0) return null;
  const palette = printPalette(FONT);
  const site = siteOf(given);
  const contexts = heads.map((one) => panelContext({ ...given, palette }, one, values));
  const figure = beginFigure(palette, given.trace.header.language, width);
  let end = addParagraph(figure, title(given, frame, values), MARGIN, { heading: true });
  for (const text of captions(given, frame, filter, values))
    end = addParagraph(figure, text, end + 2);
  const rows = rowsOf(heads, filter.sorted ? Math.min(heads.length, ACROSS) : site.heads);
  const layout = placePanels({
    ...labels(given, rows, filter.sorted),
    measure: (text) => textWidth(figurePen(), text),
    sheet: widthOf(figure),
    top: end + LINE / 2,
    shape: site,
  });
  figure.append(...layout.texts.map(({ text, ...place }) => drawn("text", place, text)));
  const size = { width: layout.across * site.keys, height: layout.down * site.queries };
  const edge = { ...size, fill: "none", stroke: css(palette.ink), "stroke-width": 0.5 };
  for (const { column, row, left, top } of layout.panels) {
    const one = rows[row][column];
    if (!one) continue;
    const context = contexts[heads.indexOf(one)];
    const own = siteOf(context);
    const cell = { across: size.width / own.keys, down: size.height / own.queries };
    if (!site.removed(one.layer, one.head))
      figure.append(...figureCells(context, { left, top, ...cell }));
    figure.append(drawn("rect", { x: left, y: top, ...edge }));
  }
  const codes = new Set(contexts.flatMap(shownCodes));
  const name = values ? frame.say("norms_title") : undefined;
  end = addLegend(figure, contexts[0], layout.end + LINE / 2, { codes: [...codes].sort(), name });
  return endFigure(figure, palette, given.trace.header.project, end);
}

/**
 * What attention, and whether its weights or value norms.
 * @param {TraceContext} context
 * @param {ViewFrame} frame
 * @param {HeadValues | null} values
 */
function title({ state, say }, frame, values) {
  const site = say(`site_${state.site}`);
  return frame.say(values ? "figure_norms" : "figure_heads", { site });
}

/**
 * How to read a panel, what is under it, the model and the text.
 * @param {TraceContext} context
 * @param {ViewFrame} frame
 * @param {HeadFilter} filter
 * @param {HeadValues | null} values
 */
function captions(context, frame, filter, values) {
  const { state, say } = context;
  const metric = metricShown(frame, state.site, filter);
  const count = frame.payload.header.sentences;
  return [
    values
      ? frame.say("figure_norms_axes")
      : `${say(`figure_axes_${state.site}`)} ${say("figure_weights")}`,
    metric ? frame.say("figure_number", { metric: frame.say(`metric_${metric}`), count }) : "",
    ...figureOrigin(context),
  ].filter(Boolean);
}

/**
 * The heads row by row; the last row may be shorter.
 * @param {FilteredHead[]} heads
 * @param {number} across
 */
function rowsOf(heads, across) {
  const count = Math.ceil(heads.length / across);
  return Array.from({ length: count }, (_, row) => heads.slice(row * across, (row + 1) * across));
}

/**
 * The texts beside the panels.
 * @param {TraceContext} context
 * @param {FilteredHead[][]} rows
 * @param {boolean} sorted
 */
function labels(context, rows, sorted) {
  const site = siteOf(context);
  const measured = rows.flat().some(({ number }) => number !== null);
  /** @param {FilteredHead} one */
  const numberOf = ({ number }) => (number === null ? "–" : shortNumber(number));
  /** @param {FilteredHead} one */
  const nameOf = ({ layer, head }) => shownName(context, layer, head);
  /** @param {FilteredHead} one */
  const below = (one) =>
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
 * @param {TraceContext} context
 * @param {FilteredHead} one
 * @param {HeadValues | null} values
 * @returns {TraceContext}
 */
function panelContext(context, { layer, head }, values) {
  const { trace, state } = context;
  const site = siteOf(context);
  const shown = { layer, head, step: 0, alignment: /** @type {const} */ ("off"), ahead: true };
  const own = values ? valuePicture(site, values, layer, head) : site.picture(layer, head);
  /** @type {Site} */
  const one = {
    ...site,
    ...(values ? { scale: values.largest } : {}),
    queries: own.queries,
    keys: own.keys,
    widest: site.widest ?? site.keys, // of the whole head, by which the scale is chosen
    weights: () => own.weights,
    masked: () => own.masked,
  };
  const scale = values ? "linear" : state.scale;
  return {
    ...context,
    trace: { ...trace, sites: { ...trace.sites, [site.name]: one } },
    state: { ...state, ...shown, scale },
  };
}

/**
 * The values of a head, as codes of the largest of all heads.
 * @param {Site} site
 * @param {HeadValues} values
 * @param {number} layer
 * @param {number} head
 * @returns {Picture}
 */
function valuePicture(site, values, layer, head) {
  const share = FULL_WEIGHT / (values.largest || 1);
  const weights = Uint16Array.from(values.of(layer, head), (value) => value * share);
  return { queries: site.queries, keys: site.keys, weights, masked: site.masked(layer, head) };
}
