import type { Figure } from "../../dom/js/savedFile.ts";
import { addBar } from "../../figure/js/figureLegend.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, LINE } from "../../figure/js/figureText.ts";
import { printPalette } from "../../page/js/palette.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { scaleColour, scaleMarks } from "./colourBar.ts";
import { comparisonOrigin } from "./comparisonOrigin.ts";
import { addNumbers } from "./numberFigure.ts";
import { layOut, scaleOf, sentenceOf } from "./patchedTables.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { Patched } from "./viewPayload.ts";

/**
 * What was patched of two texts as a figure that explains itself.
 * @param contexts of both
 * @param width px
 */
export function patchedFigure(
  contexts: TraceContext[],
  frame: ViewFrame,
  patched: Patched,
  width: number,
): Figure {
  const [context] = contexts;
  const palette = printPalette(FONT);
  const scale = scaleOf(palette, patched);
  let { figure, end, finish } = beginFigure(frame.payload.header, {
    palette,
    title: frame.say("patched"),
    captions: [
      frame.say(...sentenceOf(patched, context.trace)),
      frame.say("restored_title"),
      ...comparisonOrigin(contexts, frame),
    ],
    width,
  });
  for (const table of patched.tables) {
    const { columns, cells } = layOut(table, frame, context);
    const numbers = cells.map((cell, index) => ({
      layer: cell.layer,
      column: table.cells[index][1],
      written: cell.written,
      colour: scaleColour(scale, cell.value),
    }));
    const name = frame.sayOfPlayer(`site_${table.site}`);
    end = addNumbers(figure, { name, columns, cells: numbers }, end, width);
  }
  end = addBar(figure, palette, end + LINE, {
    name: frame.say("restored"),
    ramp: ["signed-ramp", scale.ramp],
    marks: scaleMarks(scale),
  });
  return finish(end + 1.5 * LINE);
}
