import { drawn } from "../../dom/js/drawing.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import {
  addParagraph,
  FONT,
  figurePen,
  LINE,
  labelText,
  widthOf,
} from "../../figure/js/figureText.ts";
import { css, mix, type Palette, printPalette } from "../../page/js/palette.ts";
import { currentRow, shownKeys, siteOf, stepName } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type CellArithmetic, cellArithmetic, type HeadVectors } from "./arithmetic.ts";
import {
  type CellTexts,
  cellTexts,
  cellTitle,
  maskedKeys,
  reasonText,
  STEPS,
} from "./cellTexts.ts";
import { type KeyRow, placeKeys } from "./keyList.ts";
import { decimal } from "./printedNumbers.ts";
import { type PlacedBar, type PlacedText, placeSteps, type Step } from "./stepBlocks.ts";

const SHARES = { track: 0.08, bar: 0.5, chosen: 1, zero: 0.72, faint: 0.5, muted: 0.72 }; // of the ink

/**
 * How the weight of a cell is computed, as a figure that explains itself: the keys of its row with
 * their scores and weights, and the steps of the calculation.
 * @param width px
 */
export function calculationFigure(
  given: TraceContext,
  head: HeadVectors,
  cell: Cell,
  width: number,
): Figure {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, trace, palette } = context;
  const masked = maskedKeys(context, cell.query);
  const found = cellArithmetic(head, masked, cell.query, cell.key);
  const texts = cellTexts(context, head, found, masked, cell);
  const {
    figure,
    end: top,
    finish,
  } = beginFigure(trace.header, {
    palette,
    title: figureTitle(context, cell),
    captions: [...figureOrigin(context), say("figure_inside"), texts.sentence],
    width,
  });
  const pens = { plain: figurePen(), bold: figurePen(true) };
  const sheet = widthOf(figure);
  const rows = keyRows(context, found, masked, cell);
  const headings = { token: say("term_key"), score: say("score_sum"), weight: say("weight") };
  const list = placeKeys({ rows, headings, pens, sheet, top: top + LINE / 2 });
  figure.append(...shapes(palette, list.bars), ...written(palette, list.texts));
  let { end } = list;
  if (list.left.length) {
    const weight = shortWeight(list.left.reduce((sum, row) => sum + row.weight, 0));
    end = addParagraph(figure, say("figure_inside_more", { count: list.left.length, weight }), end);
  }
  const steps = stepsOf(context, found, texts, cell);
  const blocks = placeSteps({ steps, pens, sheet, top: end + LINE / 2 });
  figure.append(...shapes(palette, blocks.bars), ...written(palette, blocks.texts));
  return finish(blocks.end);
}

/** Which cell and, where it is of one, which step. */
export function figureTitle(context: TraceContext, cell: Cell) {
  const title = cellTitle(context, cell);
  return currentRow(context) < 0 ? title : `${title} · ${stepName(context)}`;
}

/**
 * The keys of the row; later tokens, which may be guessed, have no name.
 * @param masked codes of the row
 */
function keyRows(
  context: TraceContext,
  { scores, weights }: CellArithmetic,
  masked: Uint8Array,
  cell: Cell,
): KeyRow[] {
  const { say, trace } = context;
  const shown = Math.max(shownKeys(context), cell.key + 1);
  return weights.map((weight, key) => ({
    key,
    token: key < shown ? siteOf(context).keyTokens[key] : "·",
    score: decimal(scores[key]),
    weight,
    number: shortWeight(weight),
    reason: masked[key] ? reasonText(say, trace.header.reasons[masked[key]]) : "",
    chosen: key === cell.key,
  }));
}

/** The steps from the product to the output, as the panel shows them. */
function stepsOf(
  { say }: TraceContext,
  found: CellArithmetic,
  { numbers, notes }: CellTexts,
  { key }: Cell,
): Step[] {
  const part = found.value.map((value) => found.weights[key] * value);
  const pictures = {
    product: { values: found.products },
    scaled: {}, // what it is for is no fact of this cell
    mask: { note: notes.mask },
    softmax: { values: found.weights, chosen: key },
    value: { values: part },
    output: { values: found.output },
  };
  return STEPS.map((name) => ({
    heading: say(`inside_${name}`),
    number: numbers[name],
    ...pictures[name],
  }));
}

function shapes(palette: Palette, bars: PlacedBar[]) {
  return bars.map(({ part, ...shape }) =>
    drawn("rect", { ...shape, fill: grey(palette, part), class: part }),
  );
}

function written(palette: Palette, texts: PlacedText[]) {
  return texts.map(({ part, chosen, text, ...place }) => {
    const muted = part === "reason" || part === "note";
    const looks = {
      ...place,
      class: part,
      ...(chosen || part === "heading" ? { "font-weight": 600 } : {}),
      ...(muted && !chosen ? { fill: grey(palette, "muted") } : {}),
    };
    if (part === "token") return labelText(looks, text, grey(palette, "faint"));
    return drawn("text", looks, text);
  });
}

function grey({ paper, ink }: Palette, part: keyof typeof SHARES) {
  return css(mix(paper, ink, SHARES[part]));
}
