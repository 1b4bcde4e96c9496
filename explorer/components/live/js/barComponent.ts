/** The row of controls of Explore on a page of the app that the server draws: Heads. */

import { element, phasesOf } from "../../dom/js/element.ts";
import { fillIn, type Say, type Strings } from "../../dom/js/sentences.ts";
import { createScreen } from "../../dom/js/store.ts";
import { mirrorMarks } from "../../page/js/documentMarks.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import type { ReadingChoices } from "../../trace/js/trace.ts";
import { createInputBar } from "./inputBar.ts";
import type { LiveModel } from "./liveModel.ts";
import { createModelFetch, type FetchEntry } from "./modelFetch.ts";
import type { LiveRequest } from "./modelWorker.ts";
import { createPageState } from "./pageState.ts";

/** What `explorer/components/live/page.py` writes for the component. */
interface BarData {
  models: LiveModel[]; // without what the row does not read
  language: string;
  strings: Strings;
  request: LiveRequest; // of the visit
  reading: ReadingChoices | null; // of its model, once that is open
  answered: number; // number of the last report that the server has read
  fetches: FetchEntry[]; // models that the server can fetch
}

/** What is asked for, and the number of the report. */
type Asked = Omit<LiveRequest, "forced" | "interventions"> & { number: number };

interface Listeners {
  onRequest: (asked: Asked) => void;
  onFetched: (open: string) => void;
}

export default streamlitComponent<BarData, Listeners>({
  read: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
  listeners: ({ setTriggerValue }) => ({
    onRequest: (asked) => setTriggerValue("request", asked),
    onFetched: (open) => setTriggerValue("fetched", { open }),
  }),
  open: (parent, first, heard) => {
    let [data, listeners] = [first, heard];
    let number = data.answered;
    const ended = new AbortController();
    const store = createPageState(data, data.language);
    const root = element("div", { class: "page bar" });
    mirrorMarks(root, ended.signal);
    parent.append(root);
    const screen = createScreen();
    const fetcher = createModelFetch(store, (open) => listeners.onFetched(open));
    const say: Say = (key, facts) => fillIn(data.strings, key, facts);

    const send = (request: LiveRequest) => {
      store.set({ asked: { request, view: {} }, fetching: "" });
      number += 1;
      const { forced: _, interventions: __, ...asked } = request;
      listeners.onRequest({ ...asked, number });
    };
    const build = () => {
      const bar = createInputBar(data.models, store, say, {
        onRequest: send,
        onEdit: () => {},
        fetcher,
      });
      root.replaceChildren(element("div", { class: "top" }, bar.element));
      screen.show(phasesOf([bar]));
      screen.flush();
    };
    /** Show the visit; what is typed stays unless that is of another text. */
    const take = (anew = false) => {
      const { request, reading, answered } = data;
      if (answered < number && !anew) return; // it does not know the latest yet
      const other = !sameRequest(request, store.values.asked.request);
      const none = { draft: null, pairDraft: null, fetching: "" };
      if (other) store.set({ asked: { request, view: {} }, ...none });
      store.set({ reading, onScreen: { word: "", request, hint: "" } });
    };
    take();
    build();
    return {
      update: (next) => {
        const redrawn = kindOf(next) !== kindOf(data);
        if (next.answered < data.answered) number = next.answered; // of another session
        data = next;
        store.set({ language: data.language });
        if (redrawn) fetcher.relist(data.fetches);
        take(redrawn); // a model may be gone
        if (redrawn) build();
      },
      listen: (next) => {
        listeners = next;
      },
      destroy: () => {
        ended.abort();
        fetcher.stop();
        screen.stop();
        root.remove();
      },
    };
  },
});

/** The row is built anew for another one. */
function kindOf({ language, models }: BarData) {
  return JSON.stringify([language, models]);
}

/** Whether two ask for the same, whatever is changed in the model. */
function sameRequest(one: LiveRequest, other: LiveRequest) {
  const same = (name: keyof LiveRequest) =>
    JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return (["model", "text", "pad", "pair", "reading"] as const).every(same);
}
