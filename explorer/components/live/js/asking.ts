/** Asks for traces, of which the latest is shown. */

import { createAddressedVisit } from "./addressedVisit.ts";
import type { Backend } from "./backend.ts";
import { showHostTrace } from "./hostTrace.ts";
import type { LiveRequest } from "./modelWorker.ts";
import type { PageAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import { type PageStore, shownRequest, type TraceRequest } from "./pageState.ts";
import type { PageUse } from "./pageUse.ts";
import { createRefusing } from "./refusing.ts";
import { createShowing } from "./showing.ts";
import type { TracePicture } from "./tracePicture.ts";
import { createTracing } from "./tracing.ts";
import { createWaiting } from "./waiting.ts";

export interface Asking {
  /**
   * Trace a text and show it; what was asked before is not waited for any longer. False where a
   * followed host shows what this page cannot.
   */
  ask: (asked: TraceRequest) => Promise<boolean>;
  askAgain: () => void; // show the same in the page's language
  edited: (request: LiveRequest) => void; // a text was changed that is not sent yet
  /** Show what the address asks for; who goes back to an earlier one keeps the language. */
  followAddress: () => void;
  follow: (parameters: string) => void; // show what they ask for
  link: () => void; // add what is on screen to the history
}

interface Parts {
  backend: Backend;
  picture: TracePicture;
  address: PageAddress;
  use: PageUse;
}

export function createAsking(
  data: PageData,
  store: PageStore,
  { backend, picture, address, use }: Parts,
): Asking {
  const { values: state, set } = store;
  const ask = async (given: TraceRequest) => {
    const asked = { ...given };
    waiting.begin(asked);
    const latest = () => state.asked === asked;
    try {
      if (asked.key) await showHostTrace(asked.key, store, picture, latest);
      else await tracing.trace(asked, latest);
    } catch (error) {
      if (!latest()) return true;
      waiting.end();
      if (state.host) return false;
      refuse(asked, error);
    }
    if (latest()) waiting.end();
    return true;
  };
  const waiting = createWaiting(store, backend, use);
  const visit = createAddressedVisit(data, state, address);
  const show = createShowing(data, store, { picture, visit, ask });
  const tracing = createTracing(data, store, { backend, picture, show });
  const refuse = createRefusing(data, store, { backend, picture, ask });

  const edited = (request: LiveRequest) => {
    set({ unread: null, problem: "" });
    tracing.traceAhead(request);
  };
  const follow = (parameters: string) => {
    const { request, view, refused } = visit.read(parameters);
    const { opening } = data;
    const asked = parameters || !opening ? request : { ...request, ...opening };
    set({ draft: null, pairDraft: null });
    ask({ request: asked, view, refused });
  };
  const followAddress = () => follow(address.read());
  const link = () => visit.link(picture.selection() ?? {}, false);
  const askAgain = () => {
    const { asked } = state;
    const { view } = visit.read();
    ask(asked.request === shownRequest(state) ? { request: asked.request, view } : asked);
  };
  return { ask, askAgain, edited, follow, followAddress, link };
}
