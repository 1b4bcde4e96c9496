import { ASKED, MIRRORED, REVEALED, SHOWN } from "../../shared/js/classEvents.js";
import { tokenHidden, weightsHidden } from "../../shared/js/guess.js";
import { selectionOf } from "../../shared/js/selectionReport.js";
import { currentRow } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { MEAN } from "../../shared/js/trace.js";
import { chooseUnit, inUnit } from "../../shared/js/unitChoice.js";
import { inOrder } from "./candidates.js";

/** @import { Mirrored, Question, ShownState } from "../../shared/js/classEvents.js" */
/** @import { TraceState } from "../../shared/js/openingState.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const SHARED = [
  "trace",
  "site",
  "layer",
  "head",
  "step",
  "alignment",
  "ahead",
  "guess",
  "inside",
  "insideView",
];
const KNOWN_TOKENS = 8; // that a question names

/**
 * In class mode: say what the player shows, and show what the host's player shows.
 * @param {TraceContext} context
 * @returns {(changed: Set<string>) => void}
 */
export function createClassMirror(context) {
  const { signal, act } = context;
  const say = () => {
    const detail = {
      visit: context.pieces.header.visit ?? null,
      selection: selectionOf(context),
      shown: shownState(context.state),
      question: question(context),
    };
    document.dispatchEvent(new CustomEvent(SHOWN, { detail }));
  };
  /** @param {Event} event */
  const mirror = (event) => {
    const { on, shown } = /** @type {CustomEvent<Mirrored>} */ (event).detail;
    if (on !== context.mirrors) {
      act.pause();
      context.mirrors = on;
      context.root.toggleAttribute("data-mirrors", on);
      context.touch("step", "guess"); // reports what is on screen now
    }
    if (on && shown) show(context, shown);
  };
  if (context.pieces.header.visit === undefined) return () => {};
  document.addEventListener(ASKED, say, { signal });
  document.addEventListener(MIRRORED, mirror, { signal });
  document.addEventListener(REVEALED, () => act.next(), { signal });
  return (changed) => {
    if (anyOf(changed, ...SHARED)) say();
  };
}

/**
 * @param {TraceState} state
 * @returns {ShownState}
 */
function shownState({ guess, ...state }) {
  const progress = guess && {
    weightsToo: guess.weightsToo,
    rows: guess.rows,
    tokens: guess.tokens,
  };
  const { site, layer, head, step, words, alignment, ahead, inside, insideView } = state;
  const place = { site, layer, head, step, words, alignment, ahead, inside, insideView };
  return { ...place, guess: progress };
}

/**
 * Show what the host shows, as far as the trace has it.
 * @param {TraceContext} context
 * @param {ShownState} shown
 */
function show(context, shown) {
  const trace = inUnit(context.pieces, shown.words);
  const site = trace.sites[shown.site];
  if (!site) return;
  const progress = trace.predicted.length ? shown.guess : null;
  /** @type {Partial<TraceState>} */
  const patch = {
    site: shown.site,
    layer: Math.min(shown.layer, site.layers - 1),
    head: Math.max(MEAN, Math.min(shown.head, site.heads - 1)),
    step: Math.max(Math.min(shown.step, trace.steps), Math.min(1, trace.steps)),
    alignment: shown.alignment,
    ahead: shown.ahead,
    inside: shown.inside,
    insideView: shown.insideView ?? "cell",
    guess: progress && { right: 0, total: 0, ...context.state.guess, ...progress, answer: null },
    hinted: true,
    hover: null,
  };
  const wanted = { ...context.state, ...patch, words: trace !== context.pieces };
  context.act.showLoaded(context.pieces, wanted, () => {
    if (wanted.words !== context.state.words) chooseUnit(context, wanted.words);
    context.store.set(patch);
  });
}

/**
 * What the class is to guess: the token after the current row, once its weights are shown.
 * @param {TraceContext} context
 * @returns {Question | null}
 */
function question(context) {
  const { state, trace } = context;
  const row = currentRow(context);
  const candidates = inOrder(trace.candidates[row] ?? [], true);
  if (!state.guess || row < 0 || !candidates.length || weightsHidden(context)) return null;
  const right = candidates.findIndex(({ chosen }) => chosen);
  return {
    tokens: trace.target.slice(Math.max(row + 1 - KNOWN_TOKENS, 0), row + 1),
    candidates: candidates.map(({ token }) => token),
    answer: tokenHidden(context, row) ? null : right < 0 ? candidates.length : right,
  };
}
