/**
 * The first visit: the picture is played up to the step at which the model hesitates, and a person is
 * asked what comes next.
 */

import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { percent } from "../../dom/js/numbers.ts";
import { store, stored } from "../../page/js/browserStorage.ts";
import { asksFirst, endFirst } from "../../trace/js/guess.ts";
import { labelOf, tokenElement } from "../../trace/js/label.ts";
import { currentRow, rowOf, shownHead, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { alphabetical } from "./candidates.ts";

const SEEN = "attention-played"; // in the browser's storage
const HESITATES = 0.05; // probability of the second token above which the model hesitates
const READABLE = /[\p{L}\p{N}]/u;

/**
 * Play the first picture that a person sees, row by row and once. Any step stops it. What a link or a
 * lesson shows stays as it is, and so does the picture of a class.
 */
export function playOnFirstVisit(context: TraceContext) {
  const { pieces, options, act, inLesson } = context;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const inClass = document.documentElement.hasAttribute("data-class");
  const { suggested, step } = pieces.header.view;
  if (still || !suggested || inLesson || inClass || options.alone || stored(SEEN) !== null) return;
  store(SEEN, "");
  if (stored(SEEN) === null) return; // without storage it would play at each visit
  const [best, second] = pieces.candidates[(step ?? 0) - 1] ?? [];
  const hesitates = second?.probability > HESITATES && [best, second].every(isReadable);
  const asks = step !== null && step > 1 && hesitates && !leadsClass(context);
  act.first();
  if (asks) context.set({ firstQuestion: { step, given: null } });
  act.play();
}

/** Whether a token can be told from others on a button: two apostrophes look alike. */
function isReadable({ token }: { token: string }) {
  return READABLE.test(token);
}

/** Whether a class follows this page: there a question is a vote. */
function leadsClass({ pieces }: TraceContext) {
  return pieces.header.visit !== undefined;
}

/** The question with the two likeliest tokens as large buttons, then what the model writes and why. */
export function createFirstQuestion(context: TraceContext): Part {
  const { say, state, set } = context;
  const asked = element("p", { class: "sentence" }, say("first_question"));
  const choices = element("div", { class: "first-choices" });
  const told = element("p", { class: "sentence", role: "status" });
  const attributes = { class: "first-question", testid: "first-question", hidden: true };
  const node = element("section", attributes, asked, choices, told);
  const answer = (token: string) => {
    if (state.firstQuestion) set(endFirst(state.firstQuestion, token));
  };
  const draw = () => {
    const { firstQuestion, step, guess } = state;
    const asking = asksFirst(state);
    const given = Boolean(firstQuestion?.given) && firstQuestion?.step === step;
    const answered = given && guess === null; // a guess at this step hides it again
    node.hidden = !asking && !answered;
    asked.hidden = choices.hidden = !asking;
    node.toggleAttribute("data-asking", asking);
    told.hidden = !answered;
    write(told, answered ? answerOf(context) : "");
    if (!asking) return choices.replaceChildren();
    const row = currentRow(context);
    const tokens = context.trace.candidates[row].slice(0, 2).map(({ token }) => token);
    const buttons = alphabetical(tokens).map((token) =>
      buttonElement(() => answer(token), { "data-token": token }, tokenElement(token)),
    );
    choices.replaceChildren(...buttons);
  };
  return { element: node, views: [draw] };
}

/** What the model writes at the current step, and between which two keys it hesitates. */
function answerOf(context: TraceContext) {
  const { say, state, trace } = context;
  const row = currentRow(context);
  const chosen = trace.candidates[row].find((one) => one.chosen) ?? trace.candidates[row][0];
  const site = siteOf(context);
  const { weights } = rowOf(site, state.layer, shownHead(state), row);
  const [key, other] = weights.map((_, at) => at).sort((a, b) => weights[b] - weights[a]);
  const given = state.firstQuestion?.given ?? "";
  const mine = given === chosen.token ? "" : `${say("first_given", { token: labelOf(given) })} `;
  return `${mine}${say("first_answer", {
    token: labelOf(chosen.token),
    probability: percent(chosen.probability),
    key: labelOf(site.keyTokens[key]),
    weight: weights[key].toFixed(2),
    other: labelOf(site.keyTokens[other] ?? ""),
    other_weight: (weights[other] ?? 0).toFixed(2),
  })}`;
}
