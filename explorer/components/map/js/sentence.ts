import { element, type Part } from "../../dom/js/element.ts";
import { percent } from "../../dom/js/numbers.ts";
import { writeWithTerm } from "../../dom/js/terms.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { type Method, reachOf } from "../../trace/js/contributions.ts";
import { tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { labelOf, PADDING, termOf } from "../../trace/js/label.ts";
import { MEAN, UNMASKED } from "../../trace/js/look.ts";
import {
  chosenAt,
  currentRow,
  isAsked,
  layerNumber,
  otherShare,
  predictionsOf,
  rowOf,
  shownHead,
  shownMethod,
  shownName,
  showsPredicting,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { Candidate } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { linkAt } from "./alignment.ts";

/** The sentences on what follows: where it is what the model would say, and where it is not. */
const NEXT = {
  forced: ["next_forced_best", "next_forced"],
  given: ["next_prompt_best", "next_prompt"],
  drawn: ["next_predicted", "next_drawn"],
  filled: ["next_filled", "next_given"],
  decoded: ["next_predicted", "next_given"],
};
const FOCUSED = 0.5; // weight
const MOST_MASS = 0.9;
const SINK = 0.01; // weight of a row that is on no key

/**
 * The picture in one sentence, also for screen readers; while a card of a lesson asks about the
 * picture, the learner reads it.
 */
export function createSentence(context: TraceContext): Part {
  const node = element("p", {
    class: "sentence",
    testid: "sentence",
    role: "status",
    "aria-live": "polite",
  });
  const draw = () => {
    const { asked, say } = context;
    writeWithTerm(
      node,
      asked.answer ? say("sentence_asking") : sentenceOf(context),
      "term_head",
      say,
    );
  };
  return { element: node, views: [draw] };
}

/** The sentence of the current step. */
export function sentenceOf(context: TraceContext) {
  const { say, state } = context;
  const row = currentRow(context);
  if (row < 0) {
    const whole = state.site === "encoder" || context.pieces.header.predictions !== undefined;
    return whole ? wholeSentence(context) : say("no_steps");
  }
  if (weightsHidden(context)) return questionWhere(context, row);
  const seen = attentionClause(context, row);
  if (tokenHidden(context, row)) return say("sentence_guess", { seen });
  const next = predictionClause(context, row);
  const sentence = next ? say("sentence", { seen, next }) : say("sentence_alone", { seen });
  return sentence + alignmentClause(context, row);
}

/** Which source token the row links, and to what; "" where no alignment is shown. */
function alignmentClause(context: TraceContext, row: number) {
  const { trace, say, state } = context;
  const key = linkAt(context, row);
  const hidden = state.alignment === "prediction" && tokenHidden(context, row);
  if (key < 0 || hidden) return "";
  const output = trace.target[row + 1] ?? trace.predicted.at(-1) ?? "";
  const token = state.alignment === "input" ? trace.target[row] : output;
  return say("sentence_aligned", { token: labelOf(token), key: labelOf(trace.source[key]) });
}

/** Where a row looks is still to be guessed. */
function questionWhere(context: TraceContext, row: number) {
  const query = labelOf(siteOf(context).queryTokens[row]);
  return context.say("seen_hidden", { head: headOf(context), query });
}

/** To which keys the selected head attends from one row. */
function attentionClause(context: TraceContext, row: number) {
  const { say, state } = context;
  const site = siteOf(context);
  const { weights, masked } = rowOf(site, state.layer, shownHead(state), row);
  const order = weights.map((_, key) => key).sort((one, other) => weights[other] - weights[one]);
  const [key] = order;
  const facts = {
    reading: readingClause(context, row),
    head: headOf(context),
    key: labelOf(site.keyTokens[key]),
    position: key + 1,
    weight: isAsked(context, "weight", { query: row, key }) ? ASKED : weights[key].toFixed(2),
  };
  const unmasked = masked.reduce((count, code) => count + (code === UNMASKED ? 1 : 0), 0);
  const method = shownMethod(context);
  if (method) return contributionClause(context, method, row, key, facts);
  const removed = site.removed(state.layer, shownHead(state));
  if (removed) return say(`seen_removed_${removed}`, facts);
  if (unmasked === 1) return say("seen_only", facts);
  if (weights[key] > FOCUSED) return say("seen_focused", facts);
  let [mass, count] = [0, 0];
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  while (count < order.length && mass < MOST_MASS * whole) mass += weights[order[count++]];
  const rest = 1 - whole; // what an attention sink takes
  if (whole > 0 && rest > SINK) return say("seen_sink", { ...facts, count, sink: rest.toFixed(2) });
  return say("seen_spread", { ...facts, count });
}

/**
 * When the selected head looks: after a token was read or, where a row is what predicts a word, while
 * that is written.
 */
function readingClause(context: TraceContext, row: number) {
  const { trace, say } = context;
  const site = siteOf(context);
  const known = showsPredicting(context) && !tokenHidden(context, row);
  if (known && trace.predicted[row] !== undefined)
    return say("writing_word", { word: labelOf(trace.predicted[row]) });
  const query = { query: labelOf(site.queryTokens[row]), position: row + 1 };
  return say(site.name === "encoder" ? "reading_mask" : "reading_token", query);
}

/**
 * From which key most of one row is, by a method of contributions.
 * @param facts of that key
 */
function contributionClause(
  context: TraceContext,
  method: Method,
  row: number,
  key: number,
  facts: Record<string, string | number>,
) {
  const { say, state, trace } = context;
  const site = siteOf(context);
  const other = otherShare(site, state.layer, method, row).toFixed(2);
  if (method === "leave_one_out") {
    const drop = site.drop(row, key);
    return say(drop > 0 ? "left_out" : "left_out_none", { ...facts, drop: drop.toFixed(2) });
  }
  if (reachOf(method) === "through") {
    const alone = site.name === "encoder" || !trace.sites.cross; // there is no other side
    const name = alone ? "came_alone" : `came_${site.name}`;
    return say(name, { ...facts, layer: layerNumber(context, state.layer), other });
  }
  const own = site.name === "cross" && method !== "value_norm";
  return say(own ? "contributed_cross" : "contributed", { ...facts, own: other });
}

/** The selected head, or the mean of them, as the subject of a sentence. */
function headOf(context: TraceContext) {
  const { layer, head } = context.state;
  const method = shownMethod(context);
  if (method)
    return context.say(`${reachOf(method)}_together`, { layer: layerNumber(context, layer) });
  return head === MEAN
    ? context.say("all_heads", { layer: layerNumber(context, layer) })
    : context.say("one_head", { head: shownName(context, layer, head) });
}

/** What the model predicts next, and why another token follows where one does. */
function predictionClause(context: TraceContext, row: number) {
  const { trace, say } = context;
  const token = predictionsOf(context)[row];
  if (token === undefined) return "";
  const chosen = chosenAt(trace, row);
  if (!chosen) return say("next_unknown", { token: labelOf(token) });
  const [best] = trace.candidates[row];
  const [piece, word] = [labelOf(chosen.token), labelOf(token)];
  const begins = trace.rows !== null && piece !== word;
  const facts = {
    token: say(begins ? "token_of_word" : "token_alone", { token: piece, word }),
    probability: probabilityText(context, chosen.probability),
    rank: chosen.rank,
    best: labelOf(best.token),
    best_probability: probabilityText(context, best.probability),
  };
  const [first, other] = NEXT[howChosen(context, chosen)];
  return say(chosen.rank === 1 ? first : other, facts);
}

/**
 * A probability as the model decodes; beside candidates at another temperature it says at which.
 */
function probabilityText({ state, say }: TraceContext, probability: number) {
  const text = percent(probability);
  const other = state.inside !== null && state.temperature !== 1;
  return other ? say("probability_at_one", { probability: text }) : text;
}

/** How the token that follows came to follow. */
function howChosen(
  { trace }: TraceContext,
  { forced, given, drawn }: Candidate,
): keyof typeof NEXT {
  if (forced) return "forced";
  if (given) return "given";
  if (drawn) return "drawn";
  return trace.masks.length ? "filled" : "decoded";
}

/** Without a current row, as in the encoder: how concentrated all rows are, on average. */
function wholeSentence(context: TraceContext) {
  const { say, state } = context;
  const site = siteOf(context);
  const removed = site.removed(state.layer, shownHead(state));
  if (removed) return say(`removed_${removed}`);
  let [sum, rows] = [0, 0];
  for (let query = 0; query < site.queries; query += 1) {
    if (termOf(site.queryTokens[query]) === PADDING) continue;
    sum += Math.max(...rowOf(site, state.layer, shownHead(state), query).weights);
    rows += 1;
  }
  const weight = (sum / Math.max(rows, 1)).toFixed(2);
  const name = shownMethod(context) ? "encoder_contributed" : "encoder_sentence";
  const facts = { head: headOf(context), count: rows, weight };
  return say(state.site === "encoder" ? name : "read_sentence", facts);
}
