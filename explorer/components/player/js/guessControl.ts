import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { asksFirst, canGuess } from "../../trace/js/guess.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/**
 * The button that hides what comes next until it is guessed; then also a switch for the weights,
 * and how many guesses were right.
 */
export function createGuessControl(context: TraceContext): Part {
  const { say, act } = context;
  const button = buttonElement(act.toggleGuess, { testid: "guess" }, say("guess"));
  const weights = element("input", {
    type: "checkbox",
    testid: "guess-weights",
    on: { change: () => hideWeights(context, weights.checked) },
  });
  const label = element("label", { class: "ahead", title: say("guess_weights_title") }, weights);
  label.append(say("guess_weights"));
  const tally = element("output", { class: "tally", testid: "tally", title: say("tally_title") });
  const node = element("span", { class: "guess-control row" }, button, label, tally);
  const draw = () => {
    const { guess } = context.state;
    document.documentElement.toggleAttribute("data-guess", guess !== null); // hints tell outputs
    node.hidden = context.trace.predicted.length === 0;
    assign(button, "aria-pressed", guess ? "true" : "false");
    const able = canGuess(context);
    assign(button, "aria-disabled", able ? null : "true");
    assign(button, "data-idle", able ? null : "");
    assign(button, "title", say(able ? "guess_title" : "no_guess_drawn"));
    const askedElsewhere = asksFirst(context.state) || (context.inLesson && guess?.total === 0);
    label.hidden = tally.hidden = guess === null || askedElsewhere;
    if (!guess) return;
    weights.checked = guess.weightsToo;
    write(tally, say("tally", { right: guess.right, total: guess.total }));
  };
  return { element: node, views: [draw] };
}

/** Hide the weights of the current row, too, until they are guessed, or show them. */
export function hideWeights({ state, set }: TraceContext, weightsToo: boolean) {
  const { guess, step } = state;
  if (guess) set({ guess: { ...guess, weightsToo, rows: Math.min(guess.rows, step - 1) } });
}
