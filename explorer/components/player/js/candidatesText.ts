import type { Say } from "../../dom/js/sentences.ts";
import { temperatureOnScreen } from "../../inside/js/temperature.ts";
import { drawingIn } from "../../trace/js/drawing.ts";
import { tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { labelOf } from "../../trace/js/label.ts";
import { currentRow, isGiven, siteOf } from "../../trace/js/stepState.ts";
import type { Candidate, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** What the candidates are of. */
export function titleOf(context: TraceContext, row: number) {
  const { trace, say } = context;
  if (weightsHidden(context))
    return say("candidates_keys", { token: labelOf(siteOf(context).queryTokens[row]) });
  if (trace.masks.length) return say("candidates_mask", { position: row + 1 });
  return row < 0
    ? say("candidates")
    : say("candidates_after", { token: labelOf(trace.target[row]) });
}

/** The note under the list: why it is empty, or what a click does. */
export function candidateNote(context: TraceContext, candidates: Candidate[]) {
  const { trace, say, state } = context;
  const row = currentRow(context);
  if (state.guess && row >= 0) return guessNote(context, row);
  if (state.site === "encoder" && row < 0) return encoderNote(trace, say);
  const about = trace.rows?.length ? [say("first_pieces")] : [];
  const offered = state.whatIf && !state.projector;
  if (isGiven(trace, row)) return say("candidates_prompt", { step: trace.prompt });
  if (candidates.length)
    return [
      ...about,
      ...drawnNote(context),
      ...(offered ? [say(trace.masks.length ? "what_if_mask" : "what_if")] : []),
    ].join(" ");
  return row >= 0 && trace.predicted[row] !== undefined
    ? say("no_candidates")
    : say("no_predictions");
}

/** While tokens are drawn: at which temperature, and at which the probabilities beside are. */
function drawnNote(context: TraceContext) {
  const drawing = drawingIn(context.pieces.header.facts);
  const shown = temperatureOnScreen(context);
  return drawing ? [context.say("drawn_note", { shown, drawn: drawing.temperature })] : [];
}

/**
 * While guessing: the question of this step, unless the card of a lesson or a vote asks, and how the
 * last guess was.
 */
function guessNote(context: TraceContext, row: number) {
  const { say, trace, state } = context;
  const answer = state.guess?.answer;
  const facts = { given: labelOf(answer?.given ?? ""), token: labelOf(trace.predicted[row] ?? "") };
  const ending = answer?.right ? "_right" : "_wrong";
  const verdict = answer
    ? say(`guess_${answer.kind}${answer.kind === "forced" ? "" : ending}`, facts)
    : "";
  const askedElsewhere = context.asked.answer !== "" || context.classVotes;
  return [verdict, askedElsewhere ? "" : guessQuestion(context, row)].filter(Boolean).join(" ");
}

/** What is to be guessed at this step; "" where nothing is hidden. */
function guessQuestion(context: TraceContext, row: number) {
  const { say } = context;
  if (weightsHidden(context)) return say("guess_where");
  return tokenHidden(context, row) ? say("guess_what") : "";
}

/** Whether there is no token to come: an encoder alone, of which no masks are filled in. */
export function predictsNothing({ target, masks }: Trace) {
  return !target.length && !masks.length;
}

/** Why an encoder has no candidates. */
function encoderNote({ target, header }: Trace, say: Say) {
  if (target.length) return say("candidates_encoder");
  const { mask } = header.facts;
  return mask ? say("candidates_no_mask", { mask }) : say("candidates_encoder_only");
}
