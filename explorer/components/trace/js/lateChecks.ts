import type { View } from "../../dom/js/store.ts";
import { readEnvelope } from "../../page/js/envelope.ts";
import { frameShown } from "../../page/js/frame.ts";
import type { IntegrityCheck, Trace } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";
import { fetchAnswer, offers } from "./traceQuestions.ts";

/** Show what the checks of the trace on screen found that came without them. */
export function giveChecks(context: TraceContext, integrity: IntegrityCheck[]) {
  context.pieces.header.integrity = integrity; // opened again, it need not be checked again
  context.give({ integrity });
}

/**
 * A view that asks for the checks of a large trace once its picture is on screen: they read all of
 * its weights. Where they do not come, they are asked for again at the next step.
 */
export function createLateChecks(context: TraceContext): View {
  let asked: Trace | null = null;
  let failedAt = 0; // the step
  return () => {
    const { pieces, integrity, state } = context;
    const { step } = state;
    const again = failedAt > 0 && failedAt !== step;
    if (integrity || (asked === pieces && !again) || !offers(context, "integrity")) return;
    asked = pieces;
    failedAt = 0;
    ask(context, pieces).catch(() => {
      if (asked === pieces) failedAt = step;
    });
  };
}

async function ask(context: TraceContext, pieces: Trace) {
  await frameShown();
  const { options, signal } = context;
  const bytes = await fetchAnswer({ options, pieces, signal }, "integrity", "");
  const { integrity } = readEnvelope<{ integrity: IntegrityCheck[] }>(bytes).header;
  if (context.pieces === pieces) giveChecks(context, integrity);
}
