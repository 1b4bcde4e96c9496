import { isolated } from "../../dom/js/sentences.ts";
import { plainText } from "../../trace/js/pieceText.ts";
import type { Trace } from "../../trace/js/trace.ts";
import { type LearntKind, learnsSentences } from "./runData.ts";

/** The input of the probe and its right answer; without an encoder the prompt and the rest. */
export function probeText(run: LearntKind, trace: Trace) {
  const { read, answer } = probeTokens(trace);
  const sentences = learnsSentences(run);
  return [read, answer].map((side) => isolated(plainText(side, sentences))).join(" → ");
}

/** The tokens that the model is given, and those that are right after them. */
export function probeTokens({ source, target, prompt }: Trace) {
  if (!prompt) return { read: source, answer: target.slice(1) };
  return { read: target.slice(1, prompt), answer: target.slice(prompt) };
}
