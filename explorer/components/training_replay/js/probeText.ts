import { isolated } from "../../dom/js/sentences.ts";
import { isSpecial } from "../../trace/js/label.ts";
import { joinedPieces } from "../../trace/js/pieceText.ts";
import type { Trace } from "../../trace/js/trace.ts";

/** The input of the probe and its right answer. */
export function probeText(run: { translates: boolean }, trace: Trace) {
  return [trace.source, trace.target].map((side) => isolated(textOf(run, side))).join(" → ");
}

/** Tokens as a person types them. */
export function textOf({ translates }: { translates: boolean }, tokens: string[]) {
  const content = tokens.filter((token) => !isSpecial(token));
  return translates ? joinedPieces(content) : content.join(" ");
}
