import { assign, type Part } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { guessOn, tokenHidden } from "./guess.ts";
import { chosenAt, type TraceOnScreen } from "./stepState.ts";
import type { Trace } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";

/**
 * Pieces or words: the same trace twice. What is drawn is one of them; steps reported to the app
 * are always those of the pieces.
 */
export function createUnitChoice(context: TraceContext): Part {
  const group = { names: ["pieces", "words"], prefix: "unit", label: "unit" };
  const radios = createRadios(context.say, group, (name) => {
    if (name === "pieces" || context.pieces.words) context.act.chooseUnit(name);
  });
  const draw = () => {
    const enabled = context.pieces.words !== null;
    radios.element.hidden = !enabled && !context.pieces.header.marked;
    assign(radios.buttons.words, "aria-disabled", enabled ? null : "true");
    assign(radios.buttons.words, "data-idle", enabled ? null : "");
    assign(radios.buttons.words, "title", context.say(enabled ? "unit_words_title" : "no_words"));
    radios.check(context.trace.rows ? "words" : "pieces");
  };
  return { element: radios.element, views: [draw] };
}

/** The trace in words where those are wanted and exist. */
export function inUnit(pieces: Trace, words: boolean) {
  return (words && pieces.words) || pieces;
}

/** The step of `trace` that feeds in what a step of the pieces feeds in; 0 stays 0. */
export function stepInUnit(trace: Trace, step: number) {
  if (!trace.rows || step === 0 || trace.masks.length) return step;
  return trace.rows.findIndex((last) => last >= step - 1) + 1;
}

/** The step of `trace` whose prediction contains what a step of the pieces predicts. */
export function stepPredicting(trace: Trace, step: number) {
  const shown = stepInUnit(trace, step);
  const sameWord = trace.rows && trace.rows[shown - 1] > step - 1; // predicts the word it feeds in
  return sameWord ? Math.max(shown - 1, 1) : shown;
}

/** The rows whose prediction was set, in the unit on screen. */
export function forcedRows({ trace, pieces }: Pick<TraceContext, "trace" | "pieces">): Set<number> {
  const rows = pieces.candidates.flatMap((_, row) => (chosenAt(pieces, row)?.forced ? [row] : []));
  const inUnit = (row: number) =>
    pieces.masks.length
      ? trace.masks[pieces.masks.indexOf(row)]
      : stepPredicting(trace, row + 1) - 1;
  return new Set(rows.map(inUnit));
}

/** The step of the pieces whose candidates are those of a step. */
export function decidingStep(trace: Trace, step: number) {
  return trace.rows && step && !trace.masks.length ? trace.rows[step - 1] + 1 : step;
}

/** The step that the app knows: that of the pieces or, of a mask token, its position from 1. */
export function stepOfApp({ trace, pieces }: Pick<TraceContext, "trace" | "pieces">, step: number) {
  return pieces.masks.length ? pieces.masks[step - 1] + 1 : decidingStep(trace, step);
}

/** The current step in pieces: the one before the change to words, while in the same word. */
export function pieceStep({ trace, state }: TraceOnScreen) {
  const same = state.pieceStep && stepInUnit(trace, state.pieceStep) === state.step;
  return trace.rows && same ? state.pieceStep : decidingStep(trace, state.step);
}

/** Change the unit, keeping the position in the text. */
export function chooseUnit(context: TraceContext, words: boolean) {
  context.act.pause();
  const step = pieceStep(context);
  context.set({ words, pieceStep: step, hover: null, zoom: null });
  context.give({ generation: context.generation + 1 });
  const shown = stepInUnit(context.trace, step);
  const { guess } = context.state;
  context.set({ step: shown, guess: guess && guessOn(guess, shown) });
}

/** How many pieces of the output are known at the current step. */
export function decodedPieces(context: TraceContext) {
  const { trace, state } = context;
  return decidingStep(trace, state.step) - (tokenHidden(context, state.step - 1) ? 1 : 0);
}
