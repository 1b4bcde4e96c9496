/** What the model writes at a moment, and its attention while the right answer is fed in. */

import { ExplorableModel, type ModelTrace } from "../../browser_model/js/explorableModel.ts";
import { tracePayload } from "../../browser_model/js/tracePayload.ts";
import { answerOf } from "./toyTasks.ts";

const PROBE = "7 3 9 1 4"; // as in Python

/** @param file the model as it is at the moment */
export function probed(file: Uint8Array, task: string) {
  const model = ExplorableModel.read(file, task);
  const vocabulary = model.checkpoint.targetVocabulary;
  const target = vocabulary.decode(answerOf(task, vocabulary.encode(PROBE)));
  const trace = withOwnChoices(model.trace(PROBE, { target }));
  const shown = { view: {}, language: "", strings: {}, project: "" }; // which the replay has itself
  return { greedy: model.trace(PROBE).text, payload: tracePayload(trace, shown, []) };
}

/** The trace with the most probable token of each row as its prediction, as `own_choices.py`. */
function withOwnChoices(trace: ModelTrace): ModelTrace {
  const best = trace.candidates.filter(({ rank }) => rank === 1);
  return { ...trace, predictedTokens: best.map(({ token }) => token) };
}
