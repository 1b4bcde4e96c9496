/** Explore: input, messages and the picture of what is asked for, wherever its page is. */

import { element, phasesOf } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import type { Plotly } from "../../dom/js/plotly.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createScreen } from "../../dom/js/store.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { nameSpecials } from "../../trace/js/label.ts";
import { type Asking, createAsking } from "./asking.ts";
import type { Backend } from "./backend.ts";
import type { ClassGuest } from "./classGuest.ts";
import { createInputBar } from "./inputBar.ts";
import { createMessages } from "./messages.ts";
import { createModelFetch } from "./modelFetch.ts";
import type { PageAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import { createPageState, type PageStore, shownRequest } from "./pageState.ts";
import { createPageUse } from "./pageUse.ts";
import { createTracePicture, type TracePicture } from "./tracePicture.ts";

/** Where Explore is, and what it has from there. */
export interface Surroundings {
  root: HTMLElement; // of Explore, which replaces what is in it
  address: PageAddress;
  /** `onProgress`: told when a part of a model's file has come. */
  backend: (onProgress: () => void) => Backend;
  plotly: () => Promise<Plotly>;
  language: string; // in which it opens
  fetched?: (open: string) => void; // where the server fetches models, see `createModelFetch`
  header?: (language: string, say: Say, signal: AbortSignal) => HTMLElement; // drawn anew
  guest?: (store: PageStore, parts: { asking: Asking; picture: TracePicture }) => ClassGuest;
}

export interface ExplorePage {
  speak: (language: string) => void; // draw the page anew in it, and what else its data has
  follow: (parameters: string) => void; // show what they ask for
  link: () => void; // add what is on screen to the history
  destroy: () => void;
}

export function createExplorePage(
  data: PageData,
  { root, header, address, ...surroundings }: Surroundings,
): ExplorePage {
  const store = createPageState(data, surroundings.language);
  const { values: state, set } = store;
  const place = element("main", { id: "player" });
  let typeOn = () => {};
  const picture = createTracePicture(place, data.strings, surroundings.plotly, () => typeOn());
  const backend = surroundings.backend(() =>
    set({ loaded: backend.progress(state.asked.request.model) }),
  );
  const asking = createAsking(data, store, {
    backend,
    picture,
    address,
    use: createPageUse(place),
  });
  const messages = createMessages(state, data, place);
  const guest = surroundings.guest?.(store, { asking, picture });
  const { askAgain, followAddress } = guest ?? asking;
  const { fetched } = surroundings;
  const fetcher = fetched && createModelFetch(store, fetched);
  const screen = createScreen();
  let built = new AbortController();

  const build = () => {
    built.abort();
    built = new AbortController();
    const { language } = state;
    document.documentElement.lang = data.languages[language].tag;
    const { live, explore, player } = data.strings[language];
    const say: Say = (key, facts) => fillIn({ ...player, ...live, ...explore }, key, facts);
    nameSpecials(say); // before a trace is there, too: a class may vote
    const bar = createInputBar(data.models, store, say, {
      onRequest: (request, typed) => {
        const sameModel = request.model === shownRequest(state)?.model;
        asking.ask({ request, view: picture.keptView(sameModel), typed });
      },
      onEdit: asking.edited,
      fetcher,
    });
    typeOn = bar.focus;
    const first = header ? [header(language, say, built.signal)] : [];
    const top = element("div", { class: "top" }, ...first, ...messages.around(bar.element));
    const line = guest?.line(language);
    const above = line ? [line, top] : [top];
    root.replaceChildren(...above, place, ...(guest ? [guest.training.element] : []));
    if (line) watchTheme(line, () => {});
    onResize(above, built.signal, () => {
      const height = above.reduce((sum, part) => sum + part.offsetHeight, 0);
      document.documentElement.style.setProperty("--top-height", `${height}px`);
    });
    screen.show(phasesOf([bar, messages, ...(guest ? [guest.training] : [])]));
    screen.flush();
  };
  build();
  address.onChange(followAddress);
  if (!guest) followAddress(); // else the class says when
  return {
    speak: (language) => {
      const other = language !== state.language;
      set({ language });
      fetcher?.relist(data.fetches);
      build();
      if (other) askAgain();
    },
    follow: asking.follow,
    link: asking.link,
    destroy: () => {
      built.abort();
      fetcher?.stop();
      picture.destroy();
      root.replaceChildren();
    },
  };
}
