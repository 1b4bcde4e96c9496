import type { Say } from "../../dom/js/sentences.ts";
import { type Term, writeWithTerms } from "../../dom/js/terms.ts";

/** The technical words that a card explains where it first uses them. */
const TERMS: Term[] = [
  ...["term_attention", "term_token", "term_query", "term_key", "term_value", "weight"],
  ...["term_head", "term_layer", "site_encoder", "site_decoder", "term_mask", "term_padding"],
  ...["term_softmax", "term_score", "term_embedding", "term_vector", "term_position"],
  ...["term_norm", "term_output_matrix", "term_residual", "term_feed_forward", "term_logits"],
];

/** Write the text of a card. */
export function writeWords(node: Element, text: string, say: Say) {
  writeWithTerms(node, text, TERMS, say);
}
