import { labelOf } from "./label.js";
import {
  chosenAt,
  currentRow,
  predictionsOf,
  rowCodes,
  rowOf,
  shownHead,
  shownRows,
  siteOf,
} from "./stepState.js";

/** @import { TraceState } from "./initialState.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {object} Answer to the question of the current step
 * @property {"token" | "key" | "forced"} kind what comes next, or where the head looks; forced: what
 *   comes next where a person chose it, which is not counted
 * @property {string} given the token that was guessed
 * @property {boolean} right
 *
 * @typedef {object} Guess what is hidden until a class has guessed it; never changed, only replaced
 * @property {boolean} weightsToo whether the weights of the current row are hidden, too
 * @property {boolean} ahead whether rows not yet decoded were shown before, as they are afterwards
 * @property {number} rows steps whose weights were shown
 * @property {number} tokens steps whose next token was shown
 * @property {number} right guesses that were right
 * @property {number} total
 * @property {Answer | null} answer
 */

/** @typedef {Pick<TraceContext, "trace" | "state">} Shown */

export const HIDDEN = "?";

/**
 * Guessing from a step on: everything before it is known.
 * @param {number} step
 * @param {boolean} weightsToo
 * @param {boolean} [ahead] whether rows not yet decoded were shown before
 * @returns {Guess}
 */
export function startGuessing(step, weightsToo, ahead = false) {
  const known = step - 1;
  return { weightsToo, ahead, rows: known, tokens: known, right: 0, total: 0, answer: null };
}

/**
 * Guessing goes on with another text or unit; the tally stays.
 * @param {Guess} guess
 * @param {number} step
 * @returns {Guess}
 */
export function guessOn({ weightsToo, ahead, right, total }, step) {
  return { ...startGuessing(step, weightsToo, ahead), right, total };
}

/**
 * What is known once a step is shown: all that comes before it.
 * @param {Guess} guess
 * @param {number} step
 * @returns {Guess}
 */
export function guessAt(guess, step) {
  const known = step - 1;
  return {
    ...guess,
    rows: Math.max(guess.rows, known),
    tokens: Math.max(guess.tokens, known),
    answer: null,
  };
}

/**
 * Whether the token after a row is still to be guessed.
 * @param {Shown} context
 * @param {number} row
 */
export function tokenHidden({ state, trace }, row) {
  const known = state.guess?.tokens ?? Number.POSITIVE_INFINITY;
  return trace.predicted[row] !== undefined && row >= known;
}

/**
 * Whether the weights of the current row are still to be guessed.
 * @param {Shown} context
 */
export function weightsHidden({ state }) {
  const { guess, step, site } = state;
  return guess?.weightsToo === true && site !== "encoder" && step > guess.rows;
}

/**
 * The keys among which a person guesses: those that the current row may attend to, from left to right.
 * @param {Shown} context
 */
export function keyChoices(context) {
  const { state } = context;
  const { masked } = rowOf(siteOf(context), state.layer, shownHead(state), currentRow(context));
  return [...masked.keys()].filter((key) => !masked[key]);
}

/**
 * How many rows show their weights.
 * @param {Shown} context
 */
export function visibleRows(context) {
  return shownRows(context) - (weightsHidden(context) ? 1 : 0);
}

/**
 * Why the rows below the visible ones are empty, as the name of a sentence.
 * @param {Shown} context
 */
export function whyCovered(context) {
  return weightsHidden(context) ? "not_guessed" : "not_yet";
}

/**
 * The token after a row, as shown.
 * @param {Shown} context
 * @param {number} row
 */
export function shownPrediction(context, row) {
  return tokenHidden(context, row) ? HIDDEN : predictionsOf(context)[row];
}

/**
 * Show what is hidden at the current step, the weights first.
 * @param {Shown} context
 * @returns {Partial<TraceState> | null} null where nothing is hidden
 */
export function reveal(context) {
  const { guess, step } = context.state;
  if (guess && weightsHidden(context)) return { guess: { ...guess, rows: step } };
  if (guess && tokenHidden(context, step - 1)) return { guess: { ...guess, tokens: step } };
  return null;
}

/**
 * Guess the token after the current row, which is then shown. A token that a person chose says
 * nothing about the model: such a guess is not counted.
 * @param {Shown} context
 * @param {string} given a token as listed, or as a person types it
 * @returns {Partial<TraceState>}
 */
export function guessToken(context, given) {
  const { guess, step } = context.state;
  if (!guess || !tokenHidden(context, step - 1)) return {};
  const { trace } = context;
  const chosen = chosenAt(trace, step - 1);
  if (chosen?.forced) {
    return { guess: { ...guess, tokens: step, answer: { kind: "forced", given, right: false } } };
  }
  const known = [trace.predicted[step - 1], chosen?.token ?? ""];
  const right = known.some((token) => token !== "" && plain(token) === plain(given));
  return { guess: { ...counted(guess, { kind: "token", given, right }), tokens: step } };
}

/**
 * Guess the key with the largest weight in the current row, which is then shown.
 * @param {Shown} context
 * @param {number} key
 * @returns {Partial<TraceState>}
 */
export function guessKey(context, key) {
  const { guess, step, layer, head } = context.state;
  if (!guess || !weightsHidden(context)) return {};
  const site = siteOf(context);
  const codes = rowCodes(site, layer, head, currentRow(context));
  const right = codes[key] === Math.max(...codes);
  const answer = /** @type {Answer} */ ({ kind: "key", given: site.keyTokens[key], right });
  return { guess: { ...counted(guess, answer), rows: step } };
}

/**
 * @param {Guess} guess
 * @param {Answer} answer
 * @returns {Guess}
 */
function counted(guess, answer) {
  const right = guess.right + (answer.right ? 1 : 0);
  return { ...guess, right, total: guess.total + 1, answer };
}

/**
 * The guess without what was counted; what is known stays.
 * @param {Guess} guess
 * @returns {Guess}
 */
export function withoutTally(guess) {
  return { ...guess, right: 0, total: 0, answer: null };
}

/**
 * A token as a person types it: its label, in lower case.
 * @param {string} token
 */
export function plain(token) {
  return labelOf(token).trim().toLocaleLowerCase();
}
