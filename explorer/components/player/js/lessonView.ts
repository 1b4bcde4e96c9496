import { assign, type DrawnPart } from "../../dom/js/element.ts";
import { keepInSight } from "../../dom/js/inView.ts";
import { measured, untracked } from "../../dom/js/store.ts";
import { type Look, NEXT_TOKEN } from "../../page/js/lessonOnPage.ts";
import { onPage, setOnPage } from "../../page/js/onPage.ts";
import { type Guess, tokenHidden, withoutTally } from "../../trace/js/guess.ts";
import { initialState, type TraceState } from "../../trace/js/initialState.ts";
import { currentRow, isAsked, shownHead, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const PLACE = ["site", "layer", "head", "step"] as const;
const MARK = "data-highlighted";
/** By their names in a lesson, what the style sheet knows them as. */
const MASK_ANSWERS = { "mask reason": "reason", weight: "weight" };
export const NO_CELL = { inside: null, insideView: "cell", edit: false } as const;

/**
 * Show the part of the trace that a lesson asks for, as its link would. It is drawn first. *Guess* is
 * left as it was found.
 */
export function followLesson(context: TraceContext, show: (state: TraceState) => void): DrawnPart {
  const lookNow = () => onPage.lesson?.look() ?? null;
  let shown = lookNow(); // with which the trace came
  let open = context.inLesson;
  let guess: Guess | null = null; // as it was before the lesson
  const showLook = (look: Look) => {
    const { pieces, state } = context;
    const before = { ...state, ...NO_CELL, words: false, temperature: 1, guess: null };
    const view = { ...pieces.header.view, ...look, guess: Boolean(look.guess) };
    show({ ...initialState(pieces, view, before), everything: state.everything });
  };
  const follow = () => {
    const look = lookNow();
    const another = look !== shown;
    shown = look;
    if (another && look && !("moment" in look)) untracked(() => showLook(look));
  };
  const leave = () => {
    const left = open && !context.inLesson;
    open = context.inLesson;
    if (left) context.set({ guess: guess && withoutTally(guess) });
    else if (!open) guess = context.state.guess;
  };
  return { views: [follow, leave] };
}

/**
 * The outline around what a lesson speaks of, which is scrolled into view once; none while the
 * person looks at another place than the card's.
 */
export function createHighlight(context: TraceContext): DrawnPart {
  const { root, state, signal } = context;
  const wanted = () => onPage.lesson?.card() ?? null;
  let card = -1; // the generation of what it shows
  let place = ""; // of the card
  let marked: Element | null = null;
  let seen: unknown[] = []; // the card that was scrolled to, and whether it was answered
  let following: AbortController | undefined;
  signal.addEventListener("abort", () => following?.abort());
  const found = measured(() => {
    const name = wanted()?.highlight;
    return name ? root.querySelector(`[data-testid="${CSS.escape(name)}"]`) : null;
  });
  const visible = measured(() => found()?.checkVisibility() ?? false);
  const mark = () => {
    const now = PLACE.map((name) => state[name]).join(" ");
    if (context.generation !== card) place = now;
    card = context.generation;
    const away = now !== place;
    setOnPage({ away });
    const next = away ? null : found();
    if (next !== marked) marked?.removeAttribute(MARK);
    marked = next;
    marked?.setAttribute(MARK, "");
    const told = [wanted(), context.asked.answered]; // with the answer the card is higher
    if (!marked || told.every((one, index) => one === seen[index]) || !visible()) return;
    seen = told;
    following?.abort();
    following = keepInSight(root, marked.closest(".inside-step") ?? marked);
  };
  return { after: [mark] };
}

/**
 * One question for the card and for Guess: an answer on the card reveals the token, and a token that
 * was revealed answers a card that asks for it. The card says which is right.
 */
export function createCardAnswer(context: TraceContext): DrawnPart {
  let hidden = false;
  let card = -1; // the generation of what it shows
  const follow = () => {
    const row = currentRow(context);
    const before = hidden && context.generation === card;
    card = context.generation;
    hidden = row >= 0 && tokenHidden(context, row);
    const { asked, state } = context;
    const { guess, step } = state;
    if (guess && hidden && asked.answered) context.set({ guess: { ...guess, tokens: step } });
    if (before && !hidden && asked.answer === NEXT_TOKEN) onPage.lesson?.reveal();
  };
  return { after: [follow] };
}

/**
 * Let the style sheet hide what a calculation says of a masked cell while this or a later card asks
 * for it: there the words themselves tell it, not a number that could be left out.
 */
export function createAskedMask(context: TraceContext): DrawnPart {
  const mark = () => {
    const { root, state } = context;
    const cell = state.inside;
    const site = siteOf(context);
    const masked =
      cell && site.masked(state.layer, shownHead(state))[cell.query * site.keys + cell.key] > 0;
    const asked = Object.entries(MASK_ANSWERS).filter(
      ([answer]) => cell && masked && isAsked(context, answer, cell),
    );
    assign(root, "data-asked-mask", asked.map(([, name]) => name).join(" ") || null);
  };
  return { views: [mark] };
}
