import { isolated } from "../../dom/js/sentences.ts";
import { plainText } from "../../trace/js/pieceText.ts";
import type { Trace } from "../../trace/js/trace.ts";

/** The input of the probe and its right answer. */
export function probeText({ translates }: { translates: boolean }, { source, target }: Trace) {
  return [source, target].map((side) => isolated(plainText(side, translates))).join(" → ");
}
