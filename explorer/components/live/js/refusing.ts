/** What comes instead of a text that cannot be shown, and why it cannot. */

import type { Backend } from "./backend.ts";
import { initialRequest, isChanged, unchanged } from "./liveModel.ts";
import { refusalSentence, refusedSentence } from "./messages.ts";
import type { LiveRequest } from "./modelWorker.ts";
import type { PageData } from "./pageData.ts";
import { modelOf, type PageStore, shownRequest, type TraceRequest } from "./pageState.ts";
import { ServerError } from "./serverError.ts";
import type { TracePicture } from "./tracePicture.ts";

/** Say why a text is not shown, leave it in its box, and show what comes instead. */
export type Refuse = (asked: TraceRequest, error: unknown) => void;

interface Parts {
  backend: Backend;
  picture: TracePicture;
  ask: (instead: TraceRequest) => unknown;
}

/** Whether a request is not read as its model itself reads. */
function readsOtherwise({ reading }: LiveRequest, own: LiveRequest["reading"]) {
  return JSON.stringify(reading) !== JSON.stringify(own);
}

export function createRefusing(
  data: PageData,
  { values: state, set }: PageStore,
  { backend, picture, ask }: Parts,
): Refuse {
  const unopened: Set<string> = new Set(); // models whose files could not be opened

  /**
   * @param next what is shown instead; null = what is on screen
   * @returns the sentence, without the error of a text that is left in its box, which has its place
   */
  const sayWhy = (
    { request, refused, problem }: TraceRequest,
    error: unknown,
    next: LiveRequest | null,
  ) => {
    const { language } = state;
    const unfollowed = refused?.length ? refusalSentence(data, language, refused) : "";
    const { text, pair } = request;
    if (isGiven(request) && state.draft === null) set({ draft: text, pairDraft: pair });
    const unread = request.text === state.draft ? { request, error } : null;
    const shown = next ?? shownRequest(state);
    const said = unread ? "" : refusedSentence(data, language, error, request, shown);
    set({ unread });
    return problem ?? [unfollowed, said].filter(Boolean).join(" ");
  };
  const isGiven = ({ text, pair, model }: LiveRequest) => {
    const initial = initialOf({ model });
    return text !== initial.text || pair !== initial.pair;
  };
  const initialOf = (request: Pick<LiveRequest, "model">) =>
    initialRequest(modelOf(data.models, request));
  /**
   * A model that was chosen opens with another text; where there is no picture, another model opens.
   * @returns null where the picture stays, as where the server does not answer
   */
  const instead = (request: LiveRequest, error: unknown): LiveRequest | null => {
    if (error instanceof ServerError) return null;
    const shown = shownRequest(state);
    const open = backend.has(request.model);
    if (open && request.model !== shown?.model) {
      if (isChanged(request)) return unchanged(request);
      const { reading } = initialOf(request);
      if (readsOtherwise(request, reading)) return { ...request, reading };
      if (isGiven(request)) return initialOf(request);
    }
    if (open || shown) return null;
    unopened.add(request.model);
    const next = data.models.find(({ name }) => !unopened.has(name));
    if (!next) unopened.clear();
    return next ? initialRequest(next) : null;
  };
  return (asked, error) => {
    const next = instead(asked.request, error);
    const problem = sayWhy(asked, error, next);
    if (next) {
      ask({ request: next, view: {}, problem });
      return;
    }
    picture.rest();
    set({ asked: { request: shownRequest(state) ?? asked.request, view: {} }, problem });
  };
}
