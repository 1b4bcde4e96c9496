import { createExplanation, wordEntry } from "../../shared/js/explanation.js";

/** @import { Explanation } from "../../shared/js/explanation.js" */
/** @import { InsideView } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * By what is shown of a cell, the words that stand there.
 * @type {Record<InsideView, string[]>}
 */
const WORDS_OF = {
  before: ["embedding", "position", "norm", "query", "key", "value", "head"],
  cell: ["query", "key", "score", "scaling", "mask", "softmax", "value", "head"],
  score: ["score", "score_parts", "scaling", "embedding", "position"],
  after: ["head", "output_matrix", "residual", "norm", "feed_forward"],
  depth: ["logits", "softmax", "norm"],
  without: ["scaling", "mask", "position"],
};
const EVERYWHERE = ["special", "space"];

/**
 * A button that explains the words of the view that is open.
 * @param {TraceContext} context
 * @returns {Explanation}
 */
export function createInsideWords({ say, state }) {
  const words = { label: say("legend_words"), close: say("words_close") };
  return createExplanation("inside-words", words, () =>
    [...WORDS_OF[state.insideView], ...EVERYWHERE].map((name) => wordEntry(`term_${name}`, say)),
  );
}
