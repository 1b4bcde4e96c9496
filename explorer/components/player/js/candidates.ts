import { assign, element, type Part, phasesOf, populate, write } from "../../dom/js/element.ts";
import { scrollIntoSight } from "../../dom/js/inView.ts";
import { LIST_MARGIN } from "../../dom/js/lengths.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { measured, type View } from "../../dom/js/store.ts";
import { writeWithTerm } from "../../dom/js/terms.ts";
import { atTemperature, createTemperature } from "../../inside/js/temperature.ts";
import { keyChoices, tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { labelOf } from "../../trace/js/label.ts";
import { currentRow, isSimple, siteOf } from "../../trace/js/stepState.ts";
import type { Candidate, NextView } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type CandidateRow, createCandidateRow, type Force, isGuessed } from "./candidateRow.ts";
import { candidateNote, predictsNothing, titleOf } from "./candidatesText.ts";
import { createForceQuestion } from "./forceQuestion.ts";
import {
  createHeadParts,
  type FindAttribution,
  fitHeadParts,
  offersHeadParts,
  showsHeadParts,
} from "./headParts.ts";
import { createOthers } from "./otherCandidates.ts";
import { createTypedGuess } from "./typedGuess.ts";

const DIGIT = 0.6; // em, of a rank
const LEAST_IN_SIMPLE = 0.001; // probability of a candidate that was not taken
const FEWEST_CANDIDATES = 3; // listed in Simple; with less space, they scroll
const ROW = { desk: [20, 52], projector: [30, 64] }; // px, at least and at most

/** The probabilities of the next token; a click forces that token. */
export function createCandidates(context: TraceContext, attribution: FindAttribution): Part {
  const { say, state } = context;
  const heading = createHeading(context);
  const question = createForceQuestion(context);
  const list = createList(context, question.force);
  const others = createOthers(context);
  const note = element("p", { class: "note", testid: "candidates-note", "aria-live": "polite" });
  const typed = createTypedGuess(context);
  const byHeads = () => !weightsHidden(context) && showsHeadParts(context);
  const temperature = createTemperature(context, byHeads); // theirs is of the logits themselves
  const parts = createHeadParts(context, attribution);
  const all = [heading, temperature, list, others, parts, typed].map((part) => part.element);
  const attributes = { class: "next-token", "aria-label": say("candidates") };
  const node = element("section", attributes, ...all, note);
  const draw = () => {
    const guessed = isGuessed(context);
    const candidates = listed(context);
    node.hidden = context.pieces.header.predictions !== undefined; // which stand in their place
    node.classList.toggle("guessing", guessed);
    node.classList.toggle("guessed", state.guess !== null && !guessed);
    heading.draw(guessed);
    list.element.hidden = byHeads() || (guessed && context.asked.answer !== ""); // then the card offers them
    parts.element.hidden = !byHeads();
    write(note, byHeads() ? parts.draw() : candidateNote(context, candidates));
    const answer = byHeads() ? null : state.guess?.answer;
    assign(note, "data-mark", answer && (answer.right ? "right" : "wrong"));
    const untitled = predictsNothing(context.trace);
    assign(node, "aria-label", untitled ? (note.textContent ?? "") : say("candidates"));
    list.draw(candidates);
  };
  const around = [heading.element, temperature.element, note, typed.element];
  const space = measured(() => spaceForRows(node, around));
  const fit = () => {
    const shown = fitCandidates(context, node, space, listed(context), list.rows);
    others.draw(isGuessed(context) || byHeads() ? [] : shown);
  };
  const fitParts = () => {
    if (byHeads()) attribution(""); // fills it, once found
    space(); // with more or less of it, others of them fit
    fitHeadParts(context, node.parentElement as HTMLElement);
  };
  const { views } = phasesOf([question, { views: [draw] }, typed, temperature]);
  return { element: node, views: [...views, fit, fitParts, leadToChoices(context, node)] };
}

/** What the probabilities are of, and the choice of what is shown of the next token. */
function createHeading(context: TraceContext) {
  const { say } = context;
  const title = element("h2", { testid: "candidates-title" });
  const names = ["percent", "log", "heads"];
  const group = { names, prefix: "candidates", label: "candidates_scale", small: true };
  const radios = createRadios(say, group, (name) => context.set({ nextView: name as NextView }));
  const { buttons, check } = radios;
  const draw = (guessed: boolean) => {
    const { nextView } = context.state;
    const offered = offersHeadParts(context) && context.asked.answer === "";
    radios.element.hidden = guessed;
    buttons.heads.hidden = !offered; // the parts of heads only where there are such
    assign(buttons.heads, "aria-disabled", offered ? null : "true");
    check(nextView === "heads" && !offered ? "percent" : nextView);
    writeWithTerm(title, titleOf(context, currentRow(context)), "term_token", say);
    assign(title, "title", title.textContent); // a long one is cut off
    title.hidden = predictsNothing(context.trace);
  };
  return { element: element("header", {}, title, radios.element), draw };
}

/** The rows, of which the Tab key stops at one. */
function createList(context: TraceContext, force: Force) {
  const list = element("ol", { class: "candidates", testid: "candidates" });
  const rows: CandidateRow[] = [];
  const pressable = () =>
    rows.map((row) => row.button).filter((one) => one.isConnected && one.ariaDisabled !== "true");
  followArrows(list, pressable, { press: () => false });
  const draw = (candidates: Candidate[]) => {
    while (rows.length < candidates.length) rows.push(createCandidateRow(context, force));
    populate(list, candidates.length, (index) => rows[index].element);
    candidates.forEach((candidate, index) => {
      rows[index].draw(candidate);
    });
    const focused = (list.getRootNode() as Document | ShadowRoot).activeElement;
    markStop(pressable(), focused instanceof HTMLElement ? focused : undefined);
  };
  return { element: list, rows, draw };
}

/**
 * Where the choices are far below Guess, scroll to them when guessing begins; not where a link or a
 * lesson begins it.
 */
function leadToChoices(context: TraceContext, node: HTMLElement): View {
  const { root, state } = context;
  let before = state.guess !== null;
  let shown = context.generation;
  return () => {
    const begins = state.guess !== null && !before && context.generation === shown;
    before = state.guess !== null;
    shown = context.generation;
    if (begins && context.narrow())
      requestAnimationFrame(() => scrollIntoSight(root, node, "start"));
  };
}

/**
 * Show as many rows as the column has space for, always including the chosen one, and make them
 * as high as the space allows; three in Simple. While they are guessed all are shown: which are left
 * would tell something.
 * @param space px that the column has for them
 * @param candidates in the order of their rows
 * @returns those that are shown
 */
function fitCandidates(
  context: TraceContext,
  node: HTMLElement,
  space: () => number,
  candidates: Candidate[],
  rows: CandidateRow[],
): Candidate[] {
  const { state } = context;
  const { length } = candidates;
  const guessed = isGuessed(context);
  const fitted = !context.narrow() && length > 0;
  const [smallest, largest] = ROW[state.projector ? "projector" : "desk"];
  const free = fitted ? space() : Infinity;
  const fit = Math.max(FEWEST_CANDIDATES, Math.floor(free / smallest) - 1); // one is of the others
  const room = guessed ? length : Math.min(length, fit);
  const most = isSimple(context) && !guessed ? Math.min(room, FEWEST_CANDIDATES) : room;
  const height = Math.min(Math.max(free / (room + 1), smallest), largest);
  node.style.setProperty("--row-height", fitted ? `${Math.floor(height)}px` : "");
  const ranks = candidates.map(({ rank }) => rank).sort((one, other) => one - other);
  const last = candidates.find(({ chosen }) => chosen)?.rank ?? 0;
  const first = ranks.indexOf(last) >= most ? most - 1 : most; // so many of the best ranks are shown
  const digits = String(Math.max(last, ranks[first - 1] ?? 0)).length;
  node.style.setProperty("--rank", `${DIGIT * digits}em`);
  return candidates.filter(({ rank, chosen }, index) => {
    const shown = chosen || ranks.indexOf(rank) < first;
    rows[index].element.hidden = !shown;
    return shown;
  });
}

/**
 * The height that the column has for rows, px.
 * @param around parts of `node` that take space, too
 */
function spaceForRows(node: HTMLElement, around: HTMLElement[]) {
  const column = node.parentElement as HTMLElement;
  const gap = parseFloat(getComputedStyle(column).rowGap) || 0;
  const heightOf = (part: Element) => part.getBoundingClientRect().height;
  const others = [...column.children].filter(
    (other) => other !== node && !other.hasAttribute("hidden"),
  );
  const taken = others.reduce((sum, other) => sum + heightOf(other) + gap, 0);
  const own = around.reduce((sum, part) => sum + heightOf(part), 0);
  return column.clientHeight - taken - own - LIST_MARGIN;
}

/**
 * The candidates of the current step, most probable first; while they are guessed, in the order of the
 * alphabet, which tells nothing. While a key is guessed, the keys.
 */
function listed(context: TraceContext): Candidate[] {
  const { trace } = context;
  const row = currentRow(context);
  if (weightsHidden(context)) return keyCandidates(context);
  const candidates = row < 0 ? [] : trace.candidates[row];
  if (!tokenHidden(context, row)) {
    const likely = isSimple(context) && !context.inLesson; // whose cards speak of what could come
    return likely ? likelyOf(candidates, (one) => atTemperature(context, one)) : candidates;
  }
  const tokens = alphabetical(candidates.map(({ token }) => token));
  return [...candidates].sort(
    (one, other) => tokens.indexOf(one.token) - tokens.indexOf(other.token),
  );
}

/**
 * What Simple lists: a token that the model all but excludes is a riddle there.
 * @param shown a probability as the list has it
 */
export function likelyOf(candidates: Candidate[], shown: (probability: number) => number) {
  return candidates.filter((one) => one.chosen || shown(one.probability) >= LEAST_IN_SIMPLE);
}

/** The keys of the current row as rows of the list; their ids are their positions. */
function keyCandidates(context: TraceContext): Candidate[] {
  const { keyTokens } = siteOf(context);
  const unknown = { probability: 0, chosen: false, forced: false, given: false, drawn: false };
  return keyChoices(context).map((id, index) => ({
    ...unknown,
    id,
    token: keyTokens[id],
    rank: index + 1,
  }));
}

/** The distinct tokens in the order of the alphabet. */
export function alphabetical(tokens: string[]) {
  return [...new Set(tokens)].sort((one, other) => labelOf(one).localeCompare(labelOf(other)));
}
