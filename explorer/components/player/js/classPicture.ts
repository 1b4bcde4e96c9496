import { placeOnPage } from "../../page/js/onPage.ts";
import type {
  PictureOnPage,
  Question,
  ShownPicture,
  ShownView,
} from "../../page/js/pictureOnPage.ts";
import { asksFirst, keyChoices, tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { initialState, type TraceState } from "../../trace/js/initialState.ts";
import { viewOfWords, wordsOf } from "../../trace/js/lookAddress.ts";
import { selectionOf } from "../../trace/js/selectionReport.ts";
import { currentRow, rowOf, shownHead, shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offersMethod } from "../../trace/js/traceQuestions.ts";
import { keysOffered, tokensOffered } from "./classChoices.ts";
import { hideWeights } from "./guessControl.ts";
import { NO_CELL } from "./lessonView.ts";

const KNOWN_TOKENS = 8; // that a question names

/** What each guest chooses: whether all controls are shown, and how the next token is. */
const OWN = { everything: null, next: null };

type Followed = Pick<ShownView, "query" | "guess">;

/** Put the picture of a trace on the page, where a lesson and the class tools find it. */
export function placeTrace(context: TraceContext, picture: ShownPicture) {
  const { root, signal, act } = context;
  const view = () => {
    const { visit, resources } = context.pieces.header;
    return {
      query: { ...visit, ...wordsOf({ ...selectionOf(context), ...OWN }) },
      guess: guessed(context.state),
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

function guessed({ guess }: Pick<TraceState, "guess">): Followed["guess"] {
  if (!guess) return null;
  const { weightsToo, rows, tokens } = guess;
  return { weightsToo, rows, tokens };
}

/**
 * Opens traces, and follows the host: while the weights of a large trace are waited for, what the
 * host shows is kept for it. The trace still on screen is another one.
 */
export function createOpener(context: TraceContext) {
  let waits = false;
  let kept: Followed | null = null; // of the trace that is waited for
  const open = (trace: Trace, state: TraceState, draw: () => void) => {
    waits = true;
    kept = null;
    context.act.showLoaded(trace, state, () => {
      waits = false;
      draw();
      if (kept) followHost(context, kept);
    });
  };
  const follow = (host: Followed) => {
    if (waits) kept = host;
    else followHost(context, host);
  };
  return { open, follow };
}

/** A guest's picture shows what the host's address says, as far as the trace has it. */
function followHost(context: TraceContext, { query, guess }: Followed) {
  context.act.pause();
  const { pieces } = context;
  const named = viewOfWords(query);
  const { alignment, shows } = named;
  const followed = { guess: guess !== null, alignment: alignment ?? "off", next: undefined };
  const view = { ...pieces.header.view, ...named, ...followed };
  const wanted = (): TraceState => {
    const { state } = context;
    const opened = initialState(pieces, view, state);
    return {
      ...opened,
      guess: opened.guess && { ...opened.guess, ...guess, answer: null },
      shows: shows && offersMethod(context, shows) ? shows : "weight",
      everything: state.everything,
      hinted: true,
    };
  };
  context.act.showLoaded(pieces, wanted(), () => {
    const next = wanted(); // of what the guest has changed meanwhile
    const another = next.words !== context.state.words;
    context.set(next);
    if (another) context.give({ generation: context.generation + 1 });
  });
}

/**
 * What the class is to guess: with the weights hidden, too, where the head looks; else the token
 * after the current row. The question of the first visit is the host's.
 */
function question(context: TraceContext): Question | null {
  const { guess, site } = context.state;
  if (!guess || currentRow(context) < 0 || asksFirst(context.state)) return null;
  return guess.weightsToo && site !== "encoder" ? keyQuestion(context) : tokenQuestion(context);
}

function tokenQuestion(context: TraceContext): Question | null {
  const { trace } = context;
  const row = currentRow(context);
  const listed = trace.candidates[row] ?? [];
  if (!listed.length) return null;
  const candidates = tokensOffered(trace, listed, row);
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
