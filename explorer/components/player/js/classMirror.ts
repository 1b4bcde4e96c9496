import { placeOnPage } from "../../page/js/onPage.ts";
import type {
  PictureOnPage,
  Question,
  ShownPicture,
  ShownState,
} from "../../page/js/pictureOnPage.ts";
import { keyChoices, tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { MEAN, MIRRORED_STATE, SHOWN_MAPS } from "../../trace/js/look.ts";
import { wordsOf } from "../../trace/js/lookAddress.ts";
import { selectionOf } from "../../trace/js/selectionReport.ts";
import { currentRow, rowOf, shownHead, shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offersMethod } from "../../trace/js/traceQuestions.ts";
import { chooseUnit, inUnit } from "../../trace/js/unitChoice.ts";
import { zoomOn } from "../../trace/js/zoom.ts";
import { keysOffered, tokensOffered } from "./classChoices.ts";
import { hideWeights } from "./guessControl.ts";
import { NO_CELL } from "./lessonView.ts";

const KNOWN_TOKENS = 8; // that a question names

/** Put the picture of a trace on the page, where a lesson and the class tools find it. */
export function placeTrace(context: TraceContext, picture: ShownPicture) {
  const { root, signal, act } = context;
  const view = () => {
    const { visit, resources } = context.pieces.header;
    return {
      query: { ...visit, ...wordsOf(selectionOf(context)) },
      shown: shownState(context.state),
      trace: resources?.address.split("/").at(-1) ?? "",
      picture,
      training: null,
    };
  };
  const placed: PictureOnPage = {
    view: () => (context.pieces.header.visit === undefined ? null : view()),
    question: () => question(context),
    reveal: act.next,
    letGuess: (kind) => hideWeights(context, kind === "key"),
    closeCell: () => context.set(NO_CELL),
    focus: () => root.focus({ preventScroll: true }),
  };
  placeOnPage("picture", placed, signal);
}

function shownState({ guess, ...state }: TraceState): ShownState {
  const progress = guess && {
    weightsToo: guess.weightsToo,
    rows: guess.rows,
    tokens: guess.tokens,
  };
  const place = MIRRORED_STATE.map((name) => [name, name === "guess" ? progress : state[name]]);
  return Object.fromEntries(place) as ShownState;
}

/**
 * Opens traces, and follows the host: while the weights of a large trace are waited for, what the
 * host shows is kept for it. The trace still on screen is another one.
 */
export function createOpener(context: TraceContext) {
  let waits = false;
  let kept: ShownState | null = null; // of the trace that is waited for
  const open = (trace: Trace, state: TraceState, draw: () => void) => {
    waits = true;
    kept = null;
    context.act.showLoaded(trace, state, () => {
      waits = false;
      draw();
      if (kept) followShownState(context, kept);
    });
  };
  const follow = (shown: ShownState) => {
    if (waits) kept = shown;
    else followShownState(context, shown);
  };
  return { open, follow };
}

/** A guest's picture shows what the host's shows, as far as the trace has it. */
function followShownState(context: TraceContext, shown: ShownState) {
  context.act.pause();
  const trace = inUnit(context.pieces, shown.words);
  const site = trace.sites[shown.site];
  if (!site) return;
  const progress = trace.predicted.length ? shown.guess : null;
  const method = SHOWN_MAPS.find((one) => one === shown.shows && offersMethod(context, one));
  const patch: Partial<TraceState> = {
    words: trace !== context.pieces,
    site: shown.site,
    layer: Math.min(shown.layer, site.layers - 1),
    head: Math.max(MEAN, Math.min(shown.head, site.heads - 1)),
    shows: method || "weight",
    zoom: zoomOn(site, shown.zoom),
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
    context.set(patch);
  });
}

/**
 * What the class is to guess: with the weights hidden, too, where the head looks; else the token
 * after the current row.
 */
function question(context: TraceContext): Question | null {
  const { guess, site } = context.state;
  if (!guess || currentRow(context) < 0) return null;
  return guess.weightsToo && site !== "encoder" ? keyQuestion(context) : tokenQuestion(context);
}

function tokenQuestion(context: TraceContext): Question | null {
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

function keyQuestion(context: TraceContext): Question | null {
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

function knownTokens({ trace }: TraceContext, row: number) {
  return trace.target.slice(Math.max(row + 1 - KNOWN_TOKENS, 0), row + 1);
}
