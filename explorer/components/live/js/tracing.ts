/** Has texts traced, shows their traces and checks them. */

import { frameShown } from "../../page/js/frame.ts";
import { readTrace } from "../../trace/js/trace.ts";
import type { Backend, ComputedTrace } from "./backend.ts";
import { errorSentence } from "./messages.ts";
import type { LiveRequest, Questions } from "./modelWorker.ts";
import type { PageData } from "./pageData.ts";
import { modelOf, type PageStore, shownRequest, type TraceRequest } from "./pageState.ts";
import type { Show } from "./showing.ts";
import type { TracePicture } from "./tracePicture.ts";

export interface Tracing {
  /** Trace a text and show it, if it still is the latest. Rejects with a `ModelError`. */
  trace: (asked: TraceRequest, latest: () => boolean) => Promise<void>;
  traceAhead: (request: LiveRequest) => void; // of a text that is not sent yet
}

export function createTracing(
  data: PageData,
  { values: state, set }: PageStore,
  { backend, picture, show }: { backend: Backend; picture: TracePicture; show: Show },
): Tracing {
  const traceText = async (asked: TraceRequest, latest: () => boolean) => {
    const computed = await backend.trace(questionOf(data, state.language, asked), {
      wanted: latest,
      onText: (decoded) => latest() && set({ decoded }),
    });
    if (!latest() || !computed) return;
    const trace = readTrace(computed.bytes);
    set({ reading: trace.header.reading ?? null });
    show(trace, asked, computed);
    if (computed.check) check(computed.check, asked.request);
  };
  /** Check the trace on screen, once it is there: the checks take passes of their own. */
  const check = async (of: NonNullable<ComputedTrace["check"]>, request: LiveRequest) => {
    await frameShown();
    if (request !== shownRequest(state)) return;
    try {
      const checks = await of();
      if (request === shownRequest(state)) picture.check(checks);
    } catch (error) {
      set({ problem: errorSentence(data, state.language, error, request) });
    }
  };
  const traceAhead = (request: LiveRequest) => {
    if (request.model !== shownRequest(state)?.model) return; // not open yet
    const view = picture.keptView(true);
    backend.traceAhead(questionOf(data, state.language, { request, view }));
  };
  return { trace: traceText, traceAhead };
}

function questionOf(
  { models, project }: PageData,
  language: string,
  { request, view }: TraceRequest,
): Questions["trace"] {
  const opening = modelOf(models, request).opening ?? {};
  return { request, shown: { language, project }, opening, view };
}
