/** What is said while a trace is waited for. */

import type { Backend } from "./backend.ts";
import { type PageStore, type TraceRequest, traceWord } from "./pageState.ts";
import type { PageUse } from "./pageUse.ts";

export interface Waiting {
  begin: (asked: TraceRequest) => void; // which is the latest
  end: () => void;
}

const SLOW = 300; // ms after which a person is told what the page waits for

export function createWaiting(
  { values: state, set }: PageStore,
  { has, progress, took }: Backend,
  use: PageUse,
): Waiting {
  let timer: ReturnType<typeof setTimeout> | undefined; // after which the person has waited long
  let clock: ReturnType<typeof setInterval> | undefined;

  const stop = () => {
    clearTimeout(timer);
    clearInterval(clock);
  };

  const begin = (asked: TraceRequest) => {
    if (asked.typed) use.begin();
    const { language, draft, unread } = state;
    set({
      asked,
      coming: traceWord(asked.key ? { key: asked.key } : asked, language),
      problem: asked.problem ?? "",
      fetching: "",
      unread: unread?.request.text === draft ? unread : null,
      introduced: use.begun(),
      decoded: "",
      opening: !has(asked.request.model),
      loaded: progress(asked.request.model),
      waited: 0,
      took: took(asked.request.model),
    });
    stop();
    timer = setTimeout(() => set({ late: true }), SLOW);
    clock = setInterval(() => set({ waited: state.waited + 1 }), 1000);
  };
  const end = () => {
    stop();
    set({ coming: "", late: false });
  };
  return { begin, end };
}
