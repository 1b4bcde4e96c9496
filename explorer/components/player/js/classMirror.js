import { ASKED, ASKS, MIRRORED, REVEALED, SHOWN } from "../../shared/js/classEvents.js";
import { keyChoices, tokenHidden, weightsHidden } from "../../shared/js/guess.js";
import { flagsOf } from "../../shared/js/initialState.js";
import { MIRRORED_STATE, MOST_CANDIDATES, SHOWN_MAPS } from "../../shared/js/look.js";
import { selectionOf } from "../../shared/js/selectionReport.js";
import { currentRow, rowOf, shownHead, shownName, siteOf } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { MEAN } from "../../shared/js/trace.js";
import { offers } from "../../shared/js/traceQuestions.js";
import { chooseUnit, inUnit } from "../../shared/js/unitChoice.js";
import { alphabetical } from "./candidates.js";
import { hideWeights } from "./guessControl.js";

/** @import { Kind, Mirrored, Question, ShownState } from "../../shared/js/classEvents.js" */
/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const SHARED = ["trace", ...MIRRORED_STATE];
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
  /** @param {Event} event */
  const ask = (event) =>
    hideWeights(context, /** @type {CustomEvent<Kind>} */ (event).detail === "key");
  document.addEventListener(ASKS, ask, { signal });
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
  const place = MIRRORED_STATE.map((name) => [name, name === "guess" ? progress : state[name]]);
  return /** @type {ShownState} */ (Object.fromEntries(place));
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
  const method = offers(context, "contributions") && SHOWN_MAPS.find((one) => one === shown.shows);
  /** @type {Partial<TraceState>} */
  const patch = {
    ...flagsOf((name) => shown[name] ?? false),
    words: trace !== context.pieces,
    site: shown.site,
    layer: Math.min(shown.layer, site.layers - 1),
    head: Math.max(MEAN, Math.min(shown.head, site.heads - 1)),
    shows: method || "weight",
    step: Math.max(Math.min(shown.step, trace.steps), Math.min(1, trace.steps)),
    alignment: shown.alignment,
    ahead: shown.ahead,
    inside: shown.inside,
    insideView: shown.insideView ?? "cell",
    guess: progress && {
      ahead: false,
      right: 0,
      total: 0,
      ...context.state.guess,
      ...progress,
      answer: null,
    },
    hinted: true,
    hover: null,
  };
  const wanted = { ...context.state, ...patch };
  context.act.showLoaded(context.pieces, wanted, () => {
    if (wanted.words !== context.state.words) chooseUnit(context, wanted.words);
    context.store.set(patch);
  });
}

/**
 * What the class is to guess: with the weights hidden, too, where the head looks; else the token
 * after the current row.
 * @param {TraceContext} context
 * @returns {Question | null}
 */
function question(context) {
  const { guess, site } = context.state;
  if (!guess || currentRow(context) < 0) return null;
  return guess.weightsToo && site !== "encoder" ? keyQuestion(context) : tokenQuestion(context);
}

/**
 * @param {TraceContext} context
 * @returns {Question | null}
 */
function tokenQuestion(context) {
  const { trace } = context;
  const row = currentRow(context);
  const candidates = trace.candidates[row] ?? [];
  if (!candidates.length) return null;
  const tokens = alphabetical([...candidates.map(({ token }) => token), ...copies(trace)]);
  const chosen = candidates.find((candidate) => candidate.chosen)?.token;
  const right = chosen === undefined ? tokens.length : tokens.indexOf(chosen);
  return {
    kind: "token",
    head: "",
    tokens: knownTokens(context, row),
    candidates: tokens,
    positions: [],
    answer: tokenHidden(context, row) ? null : right,
  };
}

/**
 * The symbols of the source, which are symbols of the output as well: without them, whoever thinks
 * that the model copies could not vote for it. None of a translation.
 * @param {Trace} trace
 */
function copies({ header, source }) {
  return header.marked || !header.sites.cross
    ? []
    : source.filter((_, position) => header.content.source[position]);
}

/**
 * The keys that the row may attend to, from left to right.
 * @param {TraceContext} context
 * @returns {Question | null}
 */
function keyQuestion(context) {
  const { state } = context;
  const { layer } = state;
  const head = shownHead(state);
  const site = siteOf(context);
  const row = currentRow(context);
  const { weights } = rowOf(site, layer, head, row);
  const positions = keyChoices(context);
  if (!positions.length || positions.length > MOST_CANDIDATES) return null;
  const choiceWeights = positions.map((key) => weights[key]);
  return {
    kind: "key",
    head: shownName(context, layer, head),
    tokens: knownTokens(context, row),
    candidates: positions.map((key) => site.keyTokens[key]),
    positions,
    answer: weightsHidden(context) ? null : choiceWeights.indexOf(Math.max(...choiceWeights)),
  };
}

/**
 * @param {TraceContext} context
 * @param {number} row
 */
function knownTokens({ trace }, row) {
  return trace.target.slice(Math.max(row + 1 - KNOWN_TOKENS, 0), row + 1);
}
