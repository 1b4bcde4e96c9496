import { isSpecial } from "../../shared/js/label.js";
import { joinedPieces } from "../../shared/js/pieceText.js";

/** @import { Trace } from "../../shared/js/trace.js" */

/**
 * The input of the probe and its right answer.
 * @param {{translates: boolean}} run
 * @param {Trace} trace
 */
export function probeText({ translates }, trace) {
  /** @param {string[]} tokens */
  const textOf = (tokens) => {
    const content = tokens.filter((token) => !isSpecial(token));
    return translates ? joinedPieces(content) : content.join(" ");
  };
  return `${textOf(trace.source)} → ${textOf(trace.target)}`;
}
