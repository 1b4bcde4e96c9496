import { figureOrigin } from "../../shared/js/figureOrigin.js";
import { beginFigure, endFigure } from "../../shared/js/figureSheet.js";
import { addParagraph, FONT, LINE, MARGIN, widthOf } from "../../shared/js/figureText.js";
import { printPalette } from "../../shared/js/palette.js";
import { signedLines } from "../../shared/js/signedBarsFigure.js";
import { figureTitle } from "./calculationFigure.js";
import { scoreSum } from "./scoreParts.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { Figure } from "../../shared/js/savedFile.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { ScoreVectors } from "./scoreVectors.js" */

/**
 * What the score of a cell is summed of, as a figure that explains itself.
 * @param {TraceContext} given
 * @param {ScoreVectors} found
 * @param {Cell} cell
 * @param {number} width px
 * @returns {Figure}
 */
export function scoreFigure(given, found, cell, width) {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, trace, palette } = context;
  const sum = scoreSum(context, found, cell);
  const figure = beginFigure(palette, trace.header.language, width);
  let end = addParagraph(figure, figureTitle(context, cell), MARGIN, { heading: true });
  for (const text of [...figureOrigin(context), sum.sentence, say("score_note")])
    end = addParagraph(figure, text, end + 2);
  end += LINE / 2;
  figure.append(...signedLines(palette, sum.bars, sum.largest, end, widthOf(figure)));
  end += sum.bars.length * LINE;
  return endFigure(figure, palette, trace.header.project, end + LINE / 2);
}
