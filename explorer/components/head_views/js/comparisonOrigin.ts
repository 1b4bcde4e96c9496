import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { ViewFrame } from "./viewFrame.ts";

/** Model, text and output of both sides of a comparison, what they have in common once. */
export function comparisonOrigin(contexts: TraceContext[], { payload }: ViewFrame) {
  const { given, outputs } = payload.header;
  const lines = contexts.flatMap((context, side) => {
    const said = given ? [] : (outputs?.[side] ?? []); // the second one is given the first one's
    return figureOrigin(context, said.length ? said : undefined);
  });
  return [...new Set(lines)];
}
