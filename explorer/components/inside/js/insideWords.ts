import { createExplanation } from "../../dom/js/explanation.ts";
import { termEntry } from "../../dom/js/terms.ts";
import type { InsideView } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** By what is shown of a cell, the words that stand there. */
const WORDS_OF: Record<InsideView, string[]> = {
  before: ["embedding", "position", "norm", "query", "key", "value", "head"],
  cell: ["query", "key", "score", "scaling", "mask", "softmax", "value", "head"],
  score: ["score", "score_parts", "scaling", "embedding", "position"],
  after: ["head", "output_matrix", "residual", "norm", "feed_forward"],
  depth: ["logits", "softmax", "norm"],
  without: ["scaling", "mask", "position"],
};
const EVERYWHERE = ["bos", "eos", "padding", "space"];

/** A button that explains the words of the view that is open. */
export function createInsideWords({ say, state }: TraceContext) {
  const words = { label: say("legend_words"), close: say("words_close") };
  return createExplanation("inside-words", words, () =>
    [...WORDS_OF[state.insideView], ...EVERYWHERE].map((name) => termEntry(`term_${name}`, say)),
  );
}
