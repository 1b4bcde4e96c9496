import { addLegend } from "../../shared/js/figureLegend.js";
import { beginFigure, endFigure } from "../../shared/js/figureSheet.js";
import { addParagraph, FONT, LINE, MARGIN } from "../../shared/js/figureText.js";
import { isSpecial, labelOf, WORD_START } from "../../shared/js/label.js";
import { printPalette } from "../../shared/js/palette.js";
import { sentenceOf } from "../../shared/js/sentence.js";
import { currentRow, mapTitle, siteOf, stepName } from "../../shared/js/stepState.js";
import { CONTRIBUTION } from "../../shared/js/trace.js";
import { isThinned, mapDrawing, placesOf } from "./figureMap.js";
import { decodedPieces } from "./output.js";

/** @import { Figure } from "../../shared/js/savedFile.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const LONGEST_TEXT = 300; // characters of the source and of the output

/**
 * The map as a figure that explains itself, on white: title, model, text, the picture in one
 * sentence, map, legend and source.
 * @param {TraceContext} given
 * @returns {Figure}
 */
export function exportFigure(given) {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, state, trace } = context;
  const figure = beginFigure(context, trace.header.language);
  let end = addParagraph(figure, title(context), MARGIN, { heading: true });
  end = addParagraph(figure, say(`figure_axes_${state.site}`), end + 2);
  for (const text of [...origin(context), sentenceOf(context)])
    end = addParagraph(figure, text, end + 2);
  const places = placesOf(context, end + LINE / 2);
  figure.append(mapDrawing(context, places));
  end = places.top + places.height + LINE;
  const removed = siteOf(context).removed(state.layer, state.head) !== null;
  if (!removed) end = addLegend(figure, context, end); // else there are no cells to explain
  if (isThinned(places)) end = addParagraph(figure, say("figure_thinned"), end);
  return endFigure(figure, context, end);
}

/**
 * Which head, and which step.
 * @param {TraceContext} context
 */
function title(context) {
  const shown = context.state.head === CONTRIBUTION ? "contribution" : "attention";
  const head = `${context.say(shown)} · ${mapTitle(context)}`;
  return currentRow(context) < 0 ? head : `${head} · ${stepName(context)}`;
}

/**
 * A text, cut where it would fill the figure.
 * @param {string} text
 */
function shortened(text) {
  const letters = Array.from(text);
  return letters.length > LONGEST_TEXT ? `${letters.slice(0, LONGEST_TEXT).join("")}…` : text;
}

/**
 * The model, where it is known, and the text.
 * @param {TraceContext} context
 */
function origin(context) {
  const { pieces, say, state } = context;
  const { facts, marked } = pieces.header;
  /** @param {string[]} tokens */
  const textOf = (tokens) => {
    const content = tokens.filter((token) => !isSpecial(token));
    if (!marked) return content.map(labelOf).join(" ");
    const begins = (/** @type {string} */ token) => token.startsWith(WORD_START);
    return content
      .map((token) => (begins(token) ? " " : "") + labelOf(token))
      .join("")
      .trim();
  };
  const output = pieces.predicted.length ? pieces.predicted : pieces.target;
  const decoded = state.guess ? output.slice(0, decodedPieces(context)) : output;
  const written = pieces.prompt ? [...pieces.target.slice(0, 1), ...decoded] : decoded;
  const texts = [pieces.source, written].map(textOf).filter(Boolean);
  const text = texts.map(shortened).join("  →  ");
  return [
    ...(facts.model ? [say("figure_model", { name: facts.model })] : []),
    say("figure_text", { text }),
  ];
}
