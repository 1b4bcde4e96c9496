import { weightsHidden } from "./guess.ts";
import { currentRow, rowCodes, shownHead, siteOf } from "./stepState.ts";
import type { TraceContext } from "./traceContext.ts";

/**
 * The key with the largest weight in the current row of what the large map shows; −1 without one.
 */
export function strongestKey(context: TraceContext) {
  const { state } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (row < 0 || row >= site.queries || weightsHidden(context)) return -1;
  const weights = rowCodes(site, state.layer, shownHead(state), row);
  return weights.indexOf(Math.max(...weights));
}
