/** Shows the trace of a text, and what a link to it asks for. */

import type { Trace } from "../../trace/js/trace.ts";
import { sameRequest } from "./address.ts";
import type { AddressedVisit } from "./addressedVisit.ts";
import type { ComputedTrace } from "./backend.ts";
import { missingIn, viewWithout } from "./initialView.ts";
import { hintOf, refusalSentence } from "./messages.ts";
import type { PageData } from "./pageData.ts";
import { type PageStore, shownRequest, type TraceRequest, traceWord } from "./pageState.ts";
import { playerListeners } from "./playerListeners.ts";
import type { TracePicture } from "./tracePicture.ts";

export type Show = (trace: Trace, asked: TraceRequest, { fetch }: ComputedTrace) => void;

interface Parts {
  picture: TracePicture;
  visit: AddressedVisit;
  ask: (asked: TraceRequest) => unknown; // for another output
}

export function createShowing(
  data: PageData,
  { values: state, set }: PageStore,
  { picture, visit, ask }: Parts,
): Show {
  return (trace, { request, view, typed, refused, problem }, { fetch }) => {
    const { language, host, draft } = state;
    const first = shownRequest(state) === null;
    const hint = hintOf(trace, request, data, language);
    set({ onScreen: { word: traceWord({ request, view }, language), request, hint } });
    const listeners = playerListeners(request, state, { ask, link: visit.link, picture });
    const resources = { held: null, fetch };
    picture.draw(trace, { ...listeners, resources }, host?.picture ?? "player");
    const { sites, target } = trace.header;
    const missing = missingIn(sites, target.length, view);
    const same = sameRequest(visit.read().request, request); // as after Back
    const instead = problem !== undefined; // of a text that Back would only refuse again
    const replace = first || host !== null || same || instead;
    visit.link(viewWithout(missing, view), replace);
    if (host) picture.follow(host);
    const unfollowed = refused ? [...refused, ...missing] : [];
    if (unfollowed.length) set({ problem: refusalSentence(data, language, unfollowed) });
    if (typed && draft === null) picture.focus(); // who types on keeps the text box
  };
}
