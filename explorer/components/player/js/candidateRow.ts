import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import { percent, percentOfLoss } from "../../dom/js/numbers.ts";
import { atTemperature } from "../../inside/js/temperature.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { guessKey, guessToken, tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { labelOf, writeToken } from "../../trace/js/label.ts";
import { asksProbability, currentRow, isSimple } from "../../trace/js/stepState.ts";
import type { Candidate, NextView, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const SMALLEST_SHARE = 1e-6; // where the logarithmic bars begin
/** Sign and sentence of a chosen candidate. */
const CHOSEN: Record<"forced" | "given" | "drawn" | "taken", [string, string]> = {
  forced: ["✎", "forced"],
  given: ["◆", "in_prompt"],
  drawn: ["⚂", "drawn"],
  taken: ["✓", "chosen"],
};

export type CandidateRow = ReturnType<typeof createCandidateRow>;

export type Force = (button: HTMLElement, id: number, token: string) => void;

/** One row of the list; a click guesses or forces its token. */
export function createCandidateRow(context: TraceContext, force: Force) {
  const { say } = context;
  const rank = element("span", { class: "rank" });
  const name = element("bdi", { class: "name token" });
  const share = element("span", { class: "share" });
  const track = element("span", { class: "track" }, share);
  const value = element("span", { class: "value" });
  const mark = element("span", { class: "mark" });
  const button = buttonElement(
    () => choose(context, button, force),
    { class: "candidate" },
    ...[rank, name, track, value, mark],
  );
  /** Its name alone, as one of the choices of a guess. */
  const drawGuess = ({ id }: Candidate) => {
    for (const node of [rank, value, mark]) write(node, "");
    share.style.width = "0";
    const where = weightsHidden(context);
    const guess = where ? say("guess_this_key", { position: Number(id) + 1 }) : say("guess_this");
    assign(button, "title", guess);
    assign(mark, "title", null);
    assign(button, "aria-disabled", null);
    assign(button, "data-idle", null);
  };
  const drawKnown = (candidate: Candidate) => {
    const { state, trace } = context;
    const probability = atTemperature(context, candidate.probability);
    const asked = candidate.chosen && asksProbability(context, currentRow(context));
    write(rank, isSimple(context) ? "" : String(candidate.rank)); // beside a digit it reads as one more
    share.style.width = `${barShare(state.nextView, probability) * 100}%`;
    write(value, asked ? ASKED : percent(probability));
    const [sign, meaning] = candidate.chosen ? CHOSEN[howChosen(candidate)] : ["", null];
    write(mark, sign);
    assign(mark, "title", meaning && say(meaning));
    const enabled = state.whatIf && !state.guess && !candidate.chosen && !candidate.given;
    assign(button, "aria-disabled", enabled ? null : "true");
    assign(button, "data-idle", enabled || candidate.chosen ? null : "");
    const guessing = state.guess !== null;
    const why = candidate.chosen ? "taken" : whyEnabled(enabled, guessing, candidate, trace);
    const facts = { token: labelOf(candidate.token), probability: percent(probability) };
    const loss = probability > 0 ? (-Math.log(probability)).toFixed(2) : "∞";
    const exact = { ...facts, probability: percentOfLoss(probability, loss) };
    const lines = [say("candidate_title", exact), say(why, facts)];
    if (!isSimple(context)) lines.splice(1, 0, say("candidate_loss", { loss }));
    const title = lines.join(" ");
    assign(button, "title", asked ? null : title);
    if (!enabled) button.tabIndex = -1;
  };
  const draw = (candidate: Candidate) => {
    const guessed = isGuessed(context);
    writeToken(name, candidate.token);
    button.dataset.id = String(candidate.id);
    button.dataset.token = candidate.token;
    button.classList.toggle("chosen", candidate.chosen && !guessed);
    if (guessed) drawGuess(candidate);
    else drawKnown(candidate);
  };
  return { element: element("li", {}, button), button, draw };
}

function choose(context: TraceContext, button: HTMLButtonElement, force: Force) {
  const { guess, whatIf } = context.state;
  const { id, token = "" } = button.dataset;
  const enabled = whatIf && !guess && button.getAttribute("aria-disabled") === null;
  const key = weightsHidden(context) ? Number(id) : -1;
  if (guess) context.set(key < 0 ? guessToken(context, token) : guessKey(context, key));
  if (enabled) force(button, Number(id), token);
}

/** Whether the choices of a guess stand in the place of the candidates. */
export function isGuessed(context: TraceContext) {
  return weightsHidden(context) || tokenHidden(context, currentRow(context));
}

/** The length of a bar, 0..1. */
export function barShare(view: NextView, probability: number) {
  if (view !== "log") return probability;
  const least = Math.max(probability, SMALLEST_SHARE);
  return Math.max(0, 1 - Math.log10(least) / Math.log10(SMALLEST_SHARE));
}

/** How a chosen candidate came to be chosen. */
function howChosen({ forced, given, drawn }: Candidate): keyof typeof CHOSEN {
  if (forced) return "forced";
  if (given) return "given";
  return drawn ? "drawn" : "taken";
}

/** The sentence on what a click on a candidate that was not chosen does, or why it does nothing. */
function whyEnabled(enabled: boolean, guessing: boolean, { given }: Candidate, { masks }: Trace) {
  if (given) return "in_prompt";
  if (guessing) return "guess_first_ends";
  if (!enabled) return "no_what_if";
  return masks.length ? "what_if_mask_title" : "what_if_title";
}
