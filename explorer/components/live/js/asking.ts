/** Asks for traces and shows the latest; the address is a link to what is on screen. */

import { addressOf } from "../../classroom/js/stream.ts";
import { store as keep, stored } from "../../page/js/browserStorage.ts";
import { frameShown } from "../../page/js/frame.ts";
import { flagsOf } from "../../trace/js/initialState.ts";
import type { Selection } from "../../trace/js/look.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import { serverBytes } from "../../trace/js/traceQuestions.ts";
import { readAddress, sameRequest, writeAddress } from "./address.ts";
import type { Backend, ComputedTrace } from "./backend.ts";
import { type InitialView, missingIn, viewWithout } from "./initialView.ts";
import { initialRequest, isChanged, unchanged } from "./liveModel.ts";
import { errorSentence, hintOf, refusalSentence } from "./messages.ts";
import type { LiveRequest, Questions } from "./modelWorker.ts";
import type { PageAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import {
  modelOf,
  type PageStore,
  shownRequest,
  type TraceRequest,
  traceWord,
} from "./pageState.ts";
import { playerListeners, READ_ONLY } from "./playerListeners.ts";
import type { TracePicture } from "./tracePicture.ts";

export type Asking = ReturnType<typeof createAsking>;

const USED = "attention-used"; // in the browser's storage: the page is not new to a person
const SLOW = 300; // ms after which a person is told what the page waits for

export function createAsking(
  data: PageData,
  { values: state, set }: PageStore,
  { backend, picture, address }: { backend: Backend; picture: TracePicture; address: PageAddress },
) {
  const unopened: Set<string> = new Set(); // models whose files could not be opened
  let used = stored(USED) !== null; // whether the person has touched the picture or typed, now or before
  let timer: ReturnType<typeof setTimeout> | undefined; // after which the person has waited long

  /** The page is no longer new to the person. */
  const use = () => {
    if (!used) keep(USED, "1");
    used = true;
  };
  const wait = (asked: TraceRequest) => {
    if (asked.typed) use();
    const { language, draft, unread } = state;
    set({
      asked,
      coming: traceWord(asked.key ? { key: asked.key } : asked, language),
      problem: asked.problem ?? "",
      unread: unread?.request.text === draft ? unread : null,
      introduced: used,
      decoded: "",
      loaded: backend.progress(asked.request.model),
    });
    clearTimeout(timer);
    timer = setTimeout(() => set({ late: true }), SLOW);
  };
  const rest = () => {
    clearTimeout(timer);
    set({ coming: "", late: false });
  };

  /**
   * Trace a text and show it; what was asked before is not waited for any longer.
   * @returns false where a followed host shows what this page cannot
   */
  const ask = async (given: TraceRequest): Promise<boolean> => {
    const asked = { ...given };
    wait(asked);
    const latest = () => state.asked === asked;
    try {
      if (asked.key) await showHostTrace(asked.key, latest);
      else await trace(asked, latest);
    } catch (error) {
      if (!latest()) return true;
      rest();
      if (state.host) return false;
      refuse(asked, error);
    }
    if (latest()) rest();
    return true;
  };
  const trace = async (asked: TraceRequest, latest: () => boolean) => {
    const computed = await backend.trace(questionOf(data, state.language, asked), {
      wanted: latest,
      onText: (decoded) => latest() && set({ decoded }),
    });
    if (!latest() || !computed) return;
    show(readTrace(computed.bytes), asked, computed);
    check(computed, asked.request);
  };
  const show = (
    trace: Trace,
    { request, view, typed, refused, problem }: TraceRequest,
    { fetch }: Pick<ComputedTrace, "fetch">,
  ) => {
    const { language, host, draft } = state;
    const first = shownRequest(state) === null;
    const hint = hintOf(trace, request, data, language);
    set({ onScreen: { word: traceWord({ request, view }, language), request, hint } });
    const listeners = playerListeners(request, state, { ask, link, selection, keptView });
    const resources = { held: null, fetch };
    picture.draw(trace, { ...listeners, resources }, host?.picture ?? "player");
    const { sites, target } = trace.header;
    const missing = missingIn(sites, target.length, view);
    const addressed = addressedVisit().request;
    const same = sameRequest(addressed, request); // as after Back
    const instead = problem !== undefined; // of a text that Back would only refuse again
    const replace = first || host !== null || same || instead;
    link(viewWithout(missing, view), replace);
    if (host) picture.follow(host);
    const unfollowed = refused ? [...refused, ...missing] : [];
    if (unfollowed.length) set({ problem: refusalSentence(data, language, unfollowed) });
    if (typed && draft === null) picture.focus(); // who types on keeps the text box
  };
  /**
   * Show the trace of a host, which can be stepped through and looked into; another text is asked of
   * a model of this page.
   */
  const showHostTrace = async (key: string, latest: () => boolean) => {
    const bytes = await serverBytes(addressOf(`trace/${key}`), null, () => {});
    if (!latest()) return;
    const trace = readTrace(bytes);
    const { language, host } = state;
    set({ onScreen: { word: traceWord({ key }, language), request: null, hint: "" } });
    trace.header.view.what_if = false;
    trace.header.language = language;
    picture.draw(trace, READ_ONLY, host?.picture ?? "player");
    if (host) picture.follow(host);
  };
  /** Check the trace on screen, once it is there: the checks take passes of their own. */
  const check = async (computed: ComputedTrace, request: LiveRequest) => {
    await frameShown();
    if (request !== shownRequest(state)) return;
    try {
      const checks = await computed.check();
      if (request === shownRequest(state)) picture.check(checks);
    } catch (error) {
      set({ problem: errorSentence(data, state.language, error, request) });
    }
  };

  /**
   * Say why a text is not shown, and leave it in its box. A model that was chosen opens with another
   * one; else the picture stays, or that of another model comes where there is none.
   */
  const refuse = ({ request, refused, problem: before }: TraceRequest, error: unknown) => {
    const { language } = state;
    const shown = shownRequest(state);
    const unfollowed = refused?.length ? refusalSentence(data, language, refused) : "";
    const initial = initialRequest(modelOf(data.models, request));
    const given = request.text !== initial.text;
    if (given && state.draft === null) set({ draft: request.text });
    const unread = request.text === state.draft ? { request, error } : null;
    const said = unread ? "" : errorSentence(data, language, error, request);
    const problem = before ?? [unfollowed, said].filter(Boolean).join(" ");
    set({ unread });
    const open = backend.has(request.model);
    if (open && request.model !== shown?.model && (given || isChanged(request))) {
      const other = isChanged(request) ? unchanged(request) : initial;
      ask({ request: other, view: {}, problem });
      return;
    }
    if (!open && !shown) {
      unopened.add(request.model);
      const next = data.models.find(({ name }) => !unopened.has(name));
      if (next) {
        ask({ request: initialRequest(next), view: {}, problem });
        return;
      }
      unopened.clear();
    }
    picture.rest();
    set({ asked: { request: shown ?? request, view: {} }, problem });
  };

  /** A text was changed that is not sent yet. */
  const edited = (request: LiveRequest) => {
    set({ unread: null, problem: "" });
    if (request.model !== shownRequest(state)?.model) return; // not open yet
    backend.traceAhead(questionOf(data, state.language, { request, view: keptView() }));
  };

  const selection = () => picture.selection();
  /** What another text keeps of the one on screen. */
  const keptView = () => {
    const now = selection();
    return flagsOf((name) => now?.[name] ?? null);
  };
  const addressedVisit = () =>
    readAddress(address.read(), data.models, Object.keys(data.languages));
  /** @param replace whether Back skips what the address says now */
  const link = (selection: InitialView | Selection, replace: boolean) => {
    const request = shownRequest(state);
    if (request) address.put(writeAddress(request, selection, state.language), replace);
  };
  /** Show what the address asks for; who goes back to an earlier one keeps the language. */
  const followAddress = () => {
    const { request, view, refused } = addressedVisit();
    const { opening } = data;
    const asked = address.read() || !opening ? request : { ...request, ...opening };
    set({ draft: null });
    ask({ request: asked, view, refused });
  };
  /** Show the same in the page's language. */
  const askAgain = () => {
    const { asked } = state;
    const { view } = addressedVisit();
    ask(asked.request === shownRequest(state) ? { request: asked.request, view } : asked);
  };
  return { ask, askAgain, use, edited, followAddress, keptView };
}

function questionOf(
  { models, project }: PageData,
  language: string,
  { request, view }: TraceRequest,
): Questions["trace"] {
  const opening = modelOf(models, request).opening ?? {};
  return { request, shown: { language, project }, opening, view };
}
