import { isolated } from "../../dom/js/sentences.ts";
import { isSpecial, labelOf, WORD_START } from "../../trace/js/label.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { decodedPieces } from "../../trace/js/unitChoice.ts";

const LONGEST_TEXT = 300; // characters of the source and of the output

/** A text, cut where it would fill the figure. */
function shortened(text: string) {
  const letters = Array.from(text);
  return letters.length > LONGEST_TEXT ? `${letters.slice(0, LONGEST_TEXT).join("")}…` : text;
}

/**
 * What was changed in the model, its name where it is known, and the text.
 * @param said the whole output, where the trace ends before it
 */
export function figureOrigin(context: TraceContext, said?: string[]) {
  const { pieces, say, state } = context;
  const { facts, marked } = pieces.header;
  const textOf = (tokens: string[]) => {
    const content = tokens.filter((token) => !isSpecial(token));
    if (!marked) return content.map(labelOf).join(" ");
    const begins = (token: string) => token.startsWith(WORD_START);
    return content
      .map((token) => (begins(token) ? " " : "") + labelOf(token))
      .join("")
      .trim();
  };
  const output = said ?? (pieces.predicted.length ? pieces.predicted : pieces.target);
  const decoded = state.guess ? output.slice(0, decodedPieces(context)) : output;
  const written = pieces.prompt ? [...pieces.target.slice(0, 1), ...decoded] : decoded;
  const texts = [pieces.source, written].map(textOf).filter(Boolean);
  const text = texts.map((one) => isolated(shortened(one))).join("  →  ");
  const changes = Array.isArray(facts.interventions) ? facts.interventions : [];
  return [
    ...(changes.length ? [say("figure_interventions", { list: changes.join(", ") })] : []),
    ...(facts.model ? [say("figure_model", { name: facts.model })] : []),
    say("figure_text", { text }),
  ];
}
