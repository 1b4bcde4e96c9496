import { figureOrigin } from "../../shared/js/figureOrigin.js";
import { beginFigure, endFigure } from "../../shared/js/figureSheet.js";
import {
  addParagraph,
  drawn,
  FONT,
  figurePen,
  LINE,
  MARGIN,
  TYPE,
  widthOf,
} from "../../shared/js/figureText.js";
import { textWidth } from "../../shared/js/geometry.js";
import { signed } from "../../shared/js/numbers.js";
import { colourAt, css, mix, printPalette, signedRamp } from "../../shared/js/palette.js";
import { TONE } from "../../shared/js/signedBars.js";
import { figureTitle } from "./calculationFigure.js";
import { scoreSum } from "./scoreParts.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { Palette } from "../../shared/js/palette.js" */
/** @import { Figure } from "../../shared/js/savedFile.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { ScoreSum } from "./scoreParts.js" */
/** @import { ScoreVectors } from "./scoreVectors.js" */

const GAP = 10; // px
const TRACK = 0.08; // of the ink

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
  figure.append(...lines(palette, sum, end, widthOf(figure)));
  end += sum.bars.length * LINE;
  return endFigure(figure, palette, trace.header.project, end + LINE / 2);
}

/**
 * A line for each part: name, signed bar with its mean, number; the sum in bold.
 * @param {Palette} palette
 * @param {ScoreSum} sum
 * @param {number} top px
 * @param {number} sheet px
 */
function lines(palette, { bars, largest }, top, sheet) {
  /** @param {(bar: ScoreSum["bars"][number]) => string} textOf */
  const widest = (textOf) =>
    Math.max(...bars.map((bar) => textWidth(figurePen(bar.sum), textOf(bar))));
  const left = MARGIN + widest(({ label }) => label) + GAP;
  const right = sheet - MARGIN - widest(({ value }) => signed(value)) - GAP;
  const half = (right - left) / 2;
  const zero = left + half;
  const ramp = signedRamp(palette);
  const track = css(mix(palette.paper, palette.ink, TRACK));
  return bars.flatMap(({ label, value, mark, sum }, index) => {
    const y = top + index * LINE;
    const text = { y: y + LINE / 2 + TYPE * 0.35, ...(sum ? { "font-weight": 600 } : {}) };
    const length = largest ? (Math.abs(value) / largest) * half : 0;
    const box = { y: y + 4, height: LINE - 8 };
    const fill = css(colourAt(ramp, value < 0 ? TONE.below : TONE.above));
    const mean = zero + (largest ? (mark / largest) * half : 0);
    return [
      drawn("text", { x: MARGIN, ...text }, label),
      drawn("rect", { ...box, x: left, width: 2 * half, fill: track }),
      drawn("rect", { ...box, x: value < 0 ? zero - length : zero, width: length, fill }),
      drawn("rect", { x: mean - 0.75, y: y + 2, width: 1.5, height: LINE - 4 }),
      drawn("text", { x: sheet - MARGIN, "text-anchor": "end", ...text }, signed(value)),
    ];
  });
}
