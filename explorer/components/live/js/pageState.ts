/** The state of a live page, apart from the player, which has its own. */

import type { ClassView } from "../../classroom/js/classroom.ts";
import { createStore, type Store } from "../../dom/js/store.ts";
import type { ReadingChoices } from "../../trace/js/trace.ts";
import { type Source, wordOf } from "./hostView.ts";
import type { InitialView } from "./initialView.ts";
import { initialRequest, type LiveModel } from "./liveModel.ts";
import type { FetchEntry } from "./modelFetch.ts";
import type { LiveRequest } from "./modelWorker.ts";
import type { PageData } from "./pageData.ts";

/** A request, and how its trace is to be shown. */
export interface TraceRequest {
  request: LiveRequest;
  view: InitialView; // where not as the model opens
  typed?: boolean; // whether it was sent from the text box
  refused?: string[]; // parameters of a link that could not be followed
  problem?: string; // a sentence on the text that this one stands for
  key?: string; // of the trace of a host, which is shown in the place of the request's
}

/** A trace on screen. */
interface OnScreen {
  word: string; // see `traceWord`
  request: LiveRequest | null; // null = a host's own trace
  hint: string; // what to look at
}

export interface PageState {
  language: string;
  asked: TraceRequest; // the latest, which a control changes, on screen or not yet
  onScreen: OnScreen | null;
  draft: string | null; // what a person typed and has not sent
  pairDraft: string | null; // the same in the box of the second text
  unread: { request: LiveRequest; error: unknown } | null; // a text that could not be read
  problem: string; // a sentence
  introduced: boolean; // whether the page was not new to the person when the latest was asked for
  coming: string; // the word of the trace that is waited for; "" = none
  late: boolean; // whether the person has waited for a while
  waited: number; // whole seconds
  took: number | null; // seconds, for the model's last text; null = unknown
  opening: boolean; // whether the model that is waited for has not answered yet
  loaded: { percent: number; size: string } | null; // of the file of the model, while it comes
  decoded: string; // so far
  reading: ReadingChoices | null; // of the model on screen
  host: ClassView | null; // what the followed host shows
  fetches: FetchEntry[]; // models that can be fetched
  fetching: string; // the one that is chosen in the list; "" = none
  trainingNote: string; // key of what is said of the host's training; "" = nothing
}

export type PageStore = Store<PageState>;

export function createPageState(
  { models, fetches = [] }: Pick<PageData, "models" | "fetches">,
  language: string,
) {
  return createStore<PageState>({
    language,
    asked: { request: initialRequest(models[0]), view: {} },
    ...{ onScreen: null, draft: null, pairDraft: null, unread: null, problem: "" },
    ...{ introduced: true, coming: "", late: false, waited: 0, took: null },
    ...{ opening: false, loaded: null, decoded: "", fetches, fetching: "" },
    ...{ reading: null, host: null, trainingNote: "" },
  });
}

/** The request whose trace is on screen. */
export function shownRequest({ onScreen }: Pick<PageState, "onScreen">) {
  return onScreen?.request ?? null;
}

/** A word for a trace in a language: equal for the same one. */
export function traceWord(source: Source, language: string) {
  return `${language} ${wordOf(source)}`;
}

export function modelOf(models: LiveModel[], { model }: Pick<LiveRequest, "model">) {
  return models.find(({ name }) => name === model) as LiveModel;
}
