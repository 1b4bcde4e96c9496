/**
 * Shows on a guest's page what the host of a class shows: from the page's own models or, where the
 * browser cannot compute it, from the host's trace.
 */

import type { ClassView } from "../../classroom/js/classroom.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { Asking } from "./asking.ts";
import type { HostTraining } from "./hostTraining.ts";
import { type Source, sourceOf, wordOf } from "./hostView.ts";
import type { PageData } from "./pageData.ts";
import { type PageStore, traceWord } from "./pageState.ts";
import type { TracePicture } from "./tracePicture.ts";

/**
 * @param training of the host
 * @returns which shows what the host shows; null = nobody is followed
 */
export function createHostFollower(
  { models, strings }: PageData,
  { values: state, set }: PageStore,
  { asking, picture, training }: { asking: Asking; picture: TracePicture; training: HostTraining },
) {
  let unable = ""; // the word of what is followed, where this browser could not compute it

  const sayNoTrace = () =>
    set({ problem: fillIn(strings[state.language].class_tools, "no_trace") });
  /** Ask for a trace; where it cannot be shown, the host's own may be. */
  const show = async (source: Source) => {
    set({ draft: null });
    const { request } = state.asked;
    const asked = "key" in source ? { ...source, request, view: {} } : source;
    if ((await asking.ask(asked)) || !state.host) return;
    if ("key" in source) sayNoTrace();
    else {
      unable = wordOf(source);
      follow(state.host);
    }
  };
  const follow = (host: ClassView | null) => {
    set({ host });
    training.follow();
    if (host?.training) return;
    const { onScreen, coming, language } = state;
    if (!host) {
      if (!onScreen && !coming) asking.followAddress();
      return;
    }
    const own = sourceOf(host, models);
    const able = !own || wordOf(own) !== unable;
    if (able) unable = "";
    const source = able ? own : sourceOf(host, models, false);
    if (!source) {
      sayNoTrace();
      return;
    }
    const word = traceWord(source, language);
    if (word === onScreen?.word && !coming) picture.follow(host);
    else if (word !== coming) show(source);
  };
  return follow;
}
