import type { InsideView } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offers } from "../../trace/js/traceQuestions.ts";

/** By view, the questions of which one is enough to draw it. */
const SOURCES: Record<InsideView, string[]> = {
  before: ["path"],
  cell: ["vectors"],
  score: ["score"],
  after: ["path"],
  depth: ["early", "path"],
  without: ["without"],
};

type Asked = Pick<TraceContext, "pieces">;

/** Whether a view can be drawn of the trace on screen. */
export function isDrawn(context: Asked, view: InsideView) {
  return SOURCES[view].some((name) => offers(context, name));
}

/**
 * Whether a view is to be chosen. What the model has nothing for is not; the parts of a score, which
 * depend on the text, too, say in the running app why they are missing.
 */
export function isViewOffered(context: Asked & Pick<TraceContext, "options">, view: InsideView) {
  return isDrawn(context, view) || (view === "score" && context.options.resources === undefined);
}

/** The view on screen: the arithmetic of the cell in place of one that is not to be chosen. */
export function shownView(context: TraceContext): InsideView {
  const { insideView } = context.state;
  return isViewOffered(context, insideView) ? insideView : "cell";
}
