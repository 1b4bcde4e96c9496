import { isSpecial } from "../../shared/js/label.js";
import { joinedPieces } from "../../shared/js/pieceText.js";
import { isolated } from "../../shared/js/sentences.js";

/** @import { Trace } from "../../shared/js/trace.js" */

/**
 * The input of the probe and its right answer.
 * @param {{translates: boolean}} run
 * @param {Trace} trace
 */
export function probeText(run, trace) {
  return [trace.source, trace.target].map((side) => isolated(textOf(run, side))).join(" → ");
}

/**
 * Tokens as a person types them.
 * @param {{translates: boolean}} run
 * @param {string[]} tokens
 */
export function textOf({ translates }, tokens) {
  const content = tokens.filter((token) => !isSpecial(token));
  return translates ? joinedPieces(content) : content.join(" ");
}
