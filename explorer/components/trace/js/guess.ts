import { drawingIn } from "./drawing.ts";
import type { TraceState } from "./initialState.ts";
import { spellings } from "./label.ts";
import {
  chosenAt,
  currentRow,
  largestKey,
  predictionsOf,
  rowCodes,
  rowOf,
  shownHead,
  shownRows,
  siteOf,
  type TraceOnScreen,
} from "./stepState.ts";
import type { TraceContext } from "./traceContext.ts";

/** To the question of the current step. */
export interface Answer {
  /**
   * what comes next, or where the head looks; forced: what
   * comes next where it was set, which is not counted
   */
  kind: "token" | "key" | "forced";
  given: string; // the token that was guessed
  right: boolean;
}

/** What is hidden until a class has guessed it; never changed, only replaced. */
export interface Guess {
  weightsToo: boolean; // whether the weights of the current row are hidden, too
  ahead: boolean; // whether rows not yet decoded were shown before, as they are afterwards
  rows: number; // steps whose weights were shown
  tokens: number; // steps whose next token was shown
  right: number; // guesses that were right
  total: number;
  answer: Answer | null;
}

/** The question of the first visit, at the step at which it stops to play. */
export interface FirstQuestion {
  step: number;
  given: string | null; // the token that was chosen; null before
}

export const HIDDEN = "?";

/** Whether the next tokens are the model's own: nobody can guess what was drawn at random. */
export function canGuess({ pieces }: Pick<TraceContext, "pieces">) {
  return drawingIn(pieces.header.facts) === null;
}

/**
 * Guessing from a step on: everything before it is known.
 * @param ahead whether rows not yet decoded were shown before
 */
export function startGuessing(step: number, weightsToo: boolean, ahead = false): Guess {
  const known = step - 1;
  return { weightsToo, ahead, rows: known, tokens: known, right: 0, total: 0, answer: null };
}

/** Whether the question of the first visit is on screen and not answered. */
export function asksFirst({ firstQuestion, guess, step }: TraceState) {
  return firstQuestion?.given === null && guess !== null && step === firstQuestion.step;
}

/** Ask it: what comes next is hidden until it is answered. */
export function askFirst({ step }: FirstQuestion): Partial<TraceState> {
  return { guess: startGuessing(step, false, true), ahead: false };
}

/**
 * End it: all is shown again.
 * @param given the token that was chosen; null = the question was left
 */
export function endFirst({ step }: FirstQuestion, given: string | null): Partial<TraceState> {
  const firstQuestion = given === null ? null : { step, given };
  return { firstQuestion, guess: null, ahead: true };
}

/** Guessing goes on with another text or unit; the tally stays. */
export function guessOn({ weightsToo, ahead, right, total }: Guess, step: number): Guess {
  return { ...startGuessing(step, weightsToo, ahead), right, total };
}

/** What is known once a step is shown: all that comes before it. */
export function guessAt(guess: Guess, step: number): Guess {
  const known = step - 1;
  return {
    ...guess,
    rows: Math.max(guess.rows, known),
    tokens: Math.max(guess.tokens, known),
    answer: null,
  };
}

/** Whether the token after a row is still to be guessed. */
export function tokenHidden({ state, trace }: TraceOnScreen, row: number) {
  const known = state.guess?.tokens ?? Number.POSITIVE_INFINITY;
  return trace.predicted[row] !== undefined && row >= known;
}

/** Whether the weights of the current row are still to be guessed. */
export function weightsHidden({ state }: TraceOnScreen) {
  const { guess, step, site } = state;
  return guess?.weightsToo === true && site !== "encoder" && step > guess.rows;
}

/**
 * The keys among which a person guesses: those that the current row may attend to, from left to right.
 */
export function keyChoices(context: TraceOnScreen) {
  const { state } = context;
  const { masked } = rowOf(siteOf(context), state.layer, shownHead(state), currentRow(context));
  return [...masked.keys()].filter((key) => !masked[key]);
}

/** How many rows show their weights. */
export function visibleRows(context: TraceOnScreen) {
  return shownRows(context) - (weightsHidden(context) ? 1 : 0);
}

/** Why the rows below the visible ones are empty, as the name of a sentence. */
export function whyCovered(context: TraceOnScreen) {
  return weightsHidden(context) ? "not_guessed" : "not_yet";
}

/** The key with the largest weight in the current row of the large map; −1 while none is shown. */
export function strongestKey(context: TraceOnScreen) {
  const { state } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (row < 0 || row >= site.queries || weightsHidden(context)) return -1;
  return largestKey(site, state.layer, shownHead(state), row);
}

/** The token after a row, as shown. */
export function shownPrediction(context: TraceOnScreen, row: number) {
  return tokenHidden(context, row) ? HIDDEN : predictionsOf(context)[row];
}

/**
 * Show what is hidden at the current step, the weights first.
 * @returns null where nothing is hidden
 */
export function reveal(context: TraceOnScreen): Partial<TraceState> | null {
  const { guess, step } = context.state;
  if (guess && weightsHidden(context)) return { guess: { ...guess, rows: step } };
  if (guess && tokenHidden(context, step - 1)) return { guess: { ...guess, tokens: step } };
  return null;
}

/**
 * Guess the token after the current row, which is then shown. A token that was set says
 * nothing about the model: such a guess is not counted.
 * @param given a token as listed, or as a person types it
 */
export function guessToken(context: TraceOnScreen, given: string): Partial<TraceState> {
  const { guess, step } = context.state;
  if (!guess || !tokenHidden(context, step - 1)) return {};
  const { trace } = context;
  const chosen = chosenAt(trace, step - 1);
  if (chosen?.forced) {
    return { guess: { ...guess, tokens: step, answer: { kind: "forced", given, right: false } } };
  }
  const known = [trace.predicted[step - 1], chosen?.token ?? ""];
  const right = known.some((token) => spellings(token).includes(spellings(given)[0]));
  return { guess: { ...counted(guess, { kind: "token", given, right }), tokens: step } };
}

/** Guess the key with the largest weight in the current row, which is then shown. */
export function guessKey(context: TraceOnScreen, key: number): Partial<TraceState> {
  const { guess, step, layer, head } = context.state;
  if (!guess || !weightsHidden(context)) return {};
  const site = siteOf(context);
  const codes = rowCodes(site, layer, head, currentRow(context));
  const right = codes[key] === Math.max(...codes);
  const answer = { kind: "key", given: site.keyTokens[key], right } as Answer;
  return { guess: { ...counted(guess, answer), rows: step } };
}

function counted(guess: Guess, answer: Answer): Guess {
  const right = guess.right + (answer.right ? 1 : 0);
  return { ...guess, right, total: guess.total + 1, answer };
}

/** The guess without what was counted; what is known stays. */
export function withoutTally(guess: Guess): Guess {
  return { ...guess, right: 0, total: 0, answer: null };
}
