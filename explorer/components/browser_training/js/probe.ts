/** What the model writes at a moment, and its attention while the right answer is fed in. */

import { ExplorableModel, type ModelTrace } from "../../browser_model/js/explorableModel.ts";
import { tracePayload } from "../../browser_model/js/tracePayload.ts";
import type { SymbolVocabulary } from "../../browser_model/js/vocabulary.ts";
import type { Settings } from "./settings.ts";
import { answerOf, isContinued } from "./toyTasks.ts";

const PROBE = "7 3 9 1 4"; // as in Python

/** @param file the model as it is at the moment */
export function probed(file: Uint8Array, settings: Settings) {
  const model = ExplorableModel.read(file, settings.task);
  const { text, target } = probeOf(settings, model.checkpoint.targetVocabulary);
  const trace = withOwnChoices(model.trace(text, { target }));
  const shown = { view: {}, language: "", strings: {}, project: "" }; // which the replay has itself
  return { greedy: model.trace(text).text, payload: tracePayload(trace, shown, []) };
}

/** A text, and what is right after it. To be continued is a block and its first symbol again. */
function probeOf(
  { task, longest }: Settings,
  vocabulary: Pick<SymbolVocabulary, "encode" | "decode">,
) {
  const symbols = vocabulary.encode(PROBE);
  if (!isContinued(task))
    return { text: PROBE, target: vocabulary.decode(answerOf(task, symbols)) };
  const repeated = Array.from({ length: longest }, (_, at) => symbols[at % symbols.length]);
  const known = symbols.length + 1;
  return {
    text: vocabulary.decode(repeated.slice(0, known)),
    target: vocabulary.decode(repeated.slice(known)),
  };
}

/** The trace with the most probable token of each row as its prediction, as `own_choices.py`. */
function withOwnChoices(trace: ModelTrace): ModelTrace {
  const best = trace.candidates.filter(({ rank }) => rank === 1);
  return { ...trace, predictedTokens: best.map(({ token }) => token) };
}
