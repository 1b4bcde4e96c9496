import { ASKS, REVEALED } from "../../shared/js/classEvents.js";
import { createSpeaker } from "../../shared/js/classSpeaker.js";
import { keyChoices, tokenHidden, weightsHidden } from "../../shared/js/guess.js";
import { flagsOf } from "../../shared/js/initialState.js";
import { MIRRORED_STATE, SHOWN_MAPS } from "../../shared/js/look.js";
import { selectionOf } from "../../shared/js/selectionReport.js";
import { currentRow, rowOf, shownHead, shownName, siteOf } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { MEAN } from "../../shared/js/trace.js";
import { offers } from "../../shared/js/traceQuestions.js";
import { chooseUnit, inUnit } from "../../shared/js/unitChoice.js";
import { keysOffered, tokensOffered } from "./classChoices.js";
import { hideWeights } from "./guessControl.js";

/** @import { Kind, Question, ShownPicture, ShownState } from "../../shared/js/classEvents.js" */
/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const SHARED = ["trace", ...MIRRORED_STATE];
const KNOWN_TOKENS = 8; // that a question names

/**
 * The host's picture says what it shows.
 * @param {TraceContext} context
 * @param {ShownPicture} picture
 * @returns {(changed: Set<string>) => void}
 */
export function createClassReport(context, picture) {
  const { signal, act } = context;
  const { header } = context.pieces;
  if (header.visit === undefined) return () => {};
  const say = createSpeaker(signal, () => {
    const { visit, resources } = context.pieces.header;
    return {
      visit: visit ?? null,
      trace: resources?.address.split("/").at(-1) ?? "",
      picture,
      selection: selectionOf(context),
      shown: shownState(context.state),
      question: question(context),
    };
  });
  /** @param {Event} event */
  const ask = (event) =>
    hideWeights(context, /** @type {CustomEvent<Kind>} */ (event).detail === "key");
  document.addEventListener(REVEALED, () => act.next(), { signal });
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
 * Opens traces, and follows the host: while the weights of a large trace are waited for, what the
 * host shows is kept for it. The trace still on screen is another one.
 * @param {TraceContext} context
 */
export function createOpener(context) {
  let waits = false;
  /** @type {ShownState | null} of the trace that is waited for */
  let kept = null;
  /** @type {(trace: Trace, state: TraceState, draw: () => void) => void} */
  const open = (trace, state, draw) => {
    waits = true;
    kept = null;
    context.act.showLoaded(trace, state, () => {
      waits = false;
      draw();
      if (kept) followShownState(context, kept);
    });
  };
  /** @param {ShownState} shown */
  const follow = (shown) => {
    if (waits) kept = shown;
    else followShownState(context, shown);
  };
  return { open, follow };
}

/**
 * A guest's picture shows what the host's shows, as far as the trace has it.
 * @param {TraceContext} context
 * @param {ShownState} shown
 */
function followShownState(context, shown) {
  context.act.pause();
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
  const listed = trace.candidates[row] ?? [];
  if (!listed.length) return null;
  const candidates = tokensOffered(trace, listed);
  const chosen = listed.find((candidate) => candidate.chosen)?.token;
  const right = chosen === undefined ? candidates.length : candidates.indexOf(chosen);
  return {
    kind: "token",
    head: "",
    tokens: knownTokens(context, row),
    candidates,
    positions: [],
    prompt: "",
    answer: tokenHidden(context, row) ? null : right,
  };
}

/**
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
  const positions = keysOffered(keyChoices(context), weights);
  if (!positions.length) return null;
  const offered = positions.map((key) => weights[key]);
  return {
    kind: "key",
    head: shownName(context, layer, head),
    tokens: knownTokens(context, row),
    candidates: positions.map((key) => site.keyTokens[key]),
    positions,
    prompt: "",
    answer: weightsHidden(context) ? null : offered.indexOf(Math.max(...offered)),
  };
}

/**
 * @param {TraceContext} context
 * @param {number} row
 */
function knownTokens({ trace }, row) {
  return trace.target.slice(Math.max(row + 1 - KNOWN_TOKENS, 0), row + 1);
}
