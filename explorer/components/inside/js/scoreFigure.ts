import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, LINE } from "../../figure/js/figureText.ts";
import { signedLines } from "../../figure/js/signedBars.ts";
import { printPalette } from "../../page/js/palette.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { figureTitle } from "./calculationFigure.ts";
import { scoreSum } from "./scoreParts.ts";
import type { ScoreVectors } from "./scoreVectors.ts";

/**
 * What the score of a cell is summed of, as a figure that explains itself.
 * @param width px
 */
export function scoreFigure(
  given: TraceContext,
  found: ScoreVectors,
  cell: Cell,
  width: number,
): Figure {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, trace, palette } = context;
  const sum = scoreSum(context, found, cell);
  const { figure, end, finish } = beginFigure(trace.header, {
    palette,
    title: figureTitle(context, cell),
    captions: [...figureOrigin(context), sum.sentence, say("score_note")],
    width,
  });
  figure.append(...signedLines(palette, sum.bars, sum.largest, end + LINE / 2, width));
  return finish(end + (sum.bars.length + 1) * LINE);
}
