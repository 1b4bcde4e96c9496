import type { Figure } from "../../dom/js/savedFile.ts";
import { addLegend } from "../../figure/js/figureLegend.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { addParagraph, FONT, LINE, widthOf } from "../../figure/js/figureText.ts";
import { sentenceOf } from "../../map/js/sentence.ts";
import { printPalette } from "../../page/js/palette.ts";
import {
  currentRow,
  mapTitle,
  shownHead,
  shownMethod,
  siteOf,
  stepName,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { isThinned, mapDrawing, placesOf } from "./figureMap.ts";

/**
 * The map as a figure that explains itself, on white: title, model, text, the picture in one
 * sentence, map, legend and source.
 * @param width px
 */
export function exportFigure(given: TraceContext, width?: number): Figure {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, state, trace } = context;
  const axes = say(`figure_axes_${state.site}`);
  const shares = shownMethod(context) ? "" : say("figure_weights"); // of a contribution, a rest
  let { figure, end, finish } = beginFigure(trace.header, {
    palette: context.palette,
    title: title(context),
    captions: [`${axes} ${shares}`.trim(), ...figureOrigin(context), sentenceOf(context)],
    width,
  });
  const places = placesOf(context, end + LINE / 2, widthOf(figure));
  figure.append(mapDrawing(context, places));
  end = places.top + places.height + LINE;
  const removed = siteOf(context).removed(state.layer, shownHead(state)) !== null;
  if (!removed) end = addLegend(figure, context, end); // else there are no cells to explain
  if (isThinned(places)) end = addParagraph(figure, say("figure_thinned"), end);
  return finish(end);
}

/** Which head, and which step. */
function title(context: TraceContext) {
  const shown = shownMethod(context) ?? "attention";
  const head = `${context.say(shown)} · ${mapTitle(context)}`;
  return currentRow(context) < 0 ? head : `${head} · ${stepName(context)}`;
}
