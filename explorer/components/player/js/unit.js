/** Pieces or words: the same trace twice; what is shown is one of them, and what is told are pieces. */
function createUnitChoice(context) {
  const words = { names: ["pieces", "words"], prefix: "unit", label: "unit" };
  const choose = (name) => {
    if (name === "pieces" || context.pieces.words) context.act.chooseUnit(name);
  };
  const radios = createRadios(context, words, choose);
  const update = (changed) => {
    if (!changed.has("trace")) return;
    const able = context.pieces.words !== null;
    radios.element.hidden = !able && !context.pieces.header.marked;
    assign(radios.buttons.words, "aria-disabled", able ? null : "true");
    assign(radios.buttons.words, "title", context.say(able ? "unit_words_title" : "no_words"));
    radios.check(context.trace.rows ? "words" : "pieces");
  };
  return { element: radios.element, update };
}

/** The trace in words where those are wanted and there are any. */
function inUnit(pieces, words) {
  return (words && pieces.words) || pieces;
}

/** Show `pieces`, in the unit that was chosen. */
function adopt(context, pieces) {
  context.pieces = pieces;
  context.trace = inUnit(pieces, context.state.words);
}

/** The step of `trace` at which the token fed in at a step of the pieces is fed in; 0 stays 0. */
function stepInUnit(trace, step) {
  if (!trace.rows || step === 0) return step;
  return trace.rows.findIndex((last) => last >= step - 1) + 1;
}

/** The step of `trace` whose prediction has in it what a step of the pieces predicts. */
function stepPredicting(trace, step) {
  const shown = stepInUnit(trace, step);
  const goesOn = trace.rows && trace.rows[shown - 1] > step - 1; // in the very word fed in
  return goesOn ? Math.max(shown - 1, 1) : shown;
}

/** The step of the pieces at which the candidates of a step are the choice. */
function decidingStep(trace, step) {
  return trace.rows && step ? trace.rows[step - 1] + 1 : step;
}

/** The present step in pieces: the one left for the words as long as it is in the same word. */
function pieceStep({ trace, state }) {
  const kept = state.left && stepInUnit(trace, state.left) === state.step;
  return trace.rows && kept ? state.left : decidingStep(trace, state.step);
}

/** Go over to the other unit, at the same place of the text. */
function chooseUnit(context, store, name) {
  context.act.pause();
  const step = pieceStep(context);
  store.set({ words: name === "words", left: step, hover: null, zoomed: false });
  adopt(context, context.pieces);
  context.generation += 1;
  store.set({ step: stepInUnit(context.trace, step) });
  store.touch("trace", "step", "site", "zoomed");
}
