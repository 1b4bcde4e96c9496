import { shortNumber, signedNumber } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT } from "../../figure/js/figureText.ts";
import { type Colour, type Palette, printPalette } from "../../page/js/palette.ts";
import { isDifference } from "./headRoles.ts";
import { addNumbers } from "./numberFigure.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { MeasuredHead } from "./viewPayload.ts";

/**
 * A metric of every head as a figure that explains itself: a table for each attention, layers down
 * and heads across.
 * @param drawing.colour of a number
 * @param width px
 */
export function metricFigure(
  frame: ViewFrame,
  metric: string,
  {
    colour,
    numberOf,
    signed,
  }: {
    colour: (palette: Palette, value: number) => Colour;
    numberOf: (measured: MeasuredHead) => number | null;
    signed: boolean;
  },
  width: number,
): Figure {
  const { header } = frame.payload;
  const palette = printPalette(FONT);
  const title = frame.say(`metric_${metric}`);
  const texts = { palette, title, captions: captions(frame, metric), width };
  let { figure, end, finish } = beginFigure(header, texts);
  const number = signed ? signedNumber : shortNumber;
  for (const [site, heads] of Object.entries(header.heads)) {
    const cells = heads.map((measured) => {
      const value = numberOf(measured);
      const { layer, head: column } = measured;
      const shade = value === null ? null : colour(palette, value);
      return { layer, column, written: number(value), colour: shade };
    });
    end = addNumbers(figure, { name: frame.sayOfPlayer(`site_${site}`), cells }, end, width);
  }
  return finish(end);
}

/** What the metric is, of which model, and over which and how many sentences. */
function captions({ payload, say, sayOfPlayer }: ViewFrame, metric: string) {
  const { model, batch, sentences, removed_on: removedOn } = payload.header;
  const count = isDifference(metric) ? removedOn : sentences;
  const origin = model ? sayOfPlayer("figure_model", { name: model }) : "";
  const measured = say("figure_sentences", { count: count ?? 0, batch: batch ?? "" });
  return [say(`metric_${metric}_title`), origin, measured];
}
