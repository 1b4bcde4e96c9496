import { drawn } from "../../dom/js/drawing.ts";
import { percent } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import {
  addParagraph,
  FONT,
  figurePen,
  LINE,
  labelText,
  MARGIN,
  shortLabel,
  widthOf,
} from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { css, mix, printPalette } from "../../page/js/palette.ts";
import { tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { currentRow, stepName } from "../../trace/js/stepState.ts";
import type { Candidate } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { barShare } from "./candidateRow.ts";
import { titleOf } from "./candidatesText.ts";
import { percentOfOthers } from "./otherCandidates.ts";

const GAP = 8; // px
const WIDEST_TOKEN = 0.3; // of the figure
const TRACK = 0.08; // of the ink

/**
 * The probabilities of the next token as a figure that explains itself, as the model decodes; null
 * where there are none or they are still to be guessed.
 * @param width px
 */
export function nextFigure(given: TraceContext, width?: number): Figure | null {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, trace, palette, state } = context;
  if (!hasNext(context)) return null;
  const row = currentRow(context);
  const scale = say(state.nextView === "log" ? "figure_next_log" : "figure_next");
  const { figure, end, finish } = beginFigure(trace.header, {
    palette,
    title: `${titleOf(context, row)} · ${stepName(context)}`,
    captions: [...figureOrigin(context), scale],
    width,
  });
  const ranked = [...trace.candidates[row]].sort((one, other) => one.rank - other.rank);
  figure.append(...bars(context, ranked, end + LINE / 2, widthOf(figure)));
  const others = percentOfOthers(ranked.map(({ probability }) => probability));
  const rest = `${say("all_others")} ${others}`;
  return finish(addParagraph(figure, rest, end + (ranked.length + 0.5) * LINE + 2));
}

/** Whether there are probabilities on screen. */
export function hasNext(context: TraceContext) {
  const row = currentRow(context);
  return (
    row >= 0 &&
    !tokenHidden(context, row) &&
    !weightsHidden(context) &&
    context.trace.candidates[row].length > 0
  );
}

/**
 * A line for each candidate: rank, token, bar and number; the one that was taken in bold.
 * @param top px
 * @param sheet px
 */
function bars(
  { state, palette }: TraceContext,
  candidates: Candidate[],
  top: number,
  sheet: number,
) {
  const pen = figurePen();
  const widest = (texts: string[]) => Math.max(...texts.map((text) => textWidth(pen, text)));
  const ranks = widest(candidates.map(({ rank }) => String(rank)));
  const labels = candidates.map(({ token }) => shortLabel(pen, token, sheet * WIDEST_TOKEN));
  const numbers = candidates.map(({ probability }) => percent(probability));
  const token = MARGIN + ranks + GAP;
  const left = token + widest(labels) + 2 * GAP;
  const right = sheet - MARGIN - widest(numbers) - 2 * GAP;
  const [track, faint] = [TRACK, 0.5].map((share) => css(mix(palette.paper, palette.ink, share)));
  return candidates.flatMap(({ rank, probability, chosen }, index) => {
    const [y, bold] = [top + index * LINE, chosen ? { "font-weight": 600 } : {}];
    const line = y + 0.75 * LINE;
    const bar = { x: left, y: y + 4, height: LINE - 8 };
    const length = (right - left) * barShare(state.nextView, probability);
    const end = { x: sheet - MARGIN, y: line, "text-anchor": "end", ...bold };
    return [
      drawn("text", { x: MARGIN + ranks, y: line, "text-anchor": "end" }, String(rank)),
      labelText({ x: token, y: line, ...bold }, labels[index], faint),
      drawn("rect", { ...bar, width: right - left, fill: track }),
      drawn("rect", { ...bar, width: length, fill: css(palette.ink) }),
      drawn("text", end, numbers[index]),
    ];
  });
}
