/**
 * Shows on a guest's page what the host of a class shows: from the page's own models or, where the
 * browser cannot compute it, from the host's trace.
 */

import type { ClassView } from "../../classroom/js/classroom.ts";
import { addressOf } from "../../classroom/js/stream.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { Listeners } from "../../player/js/player.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import { serverBytes } from "../../trace/js/traceQuestions.ts";
import type { HostTraining } from "./hostTraining.ts";
import { sourceOf, wordOf } from "./hostView.ts";
import type { Asked, LivePage } from "./livePage.ts";

/** Listeners for a trace of a host: a guest changes nothing of it. */
const READ_ONLY: Listeners = {
  onState: undefined,
  onForce: undefined,
  onUnforce: undefined,
  onReset: undefined,
  resources: undefined,
};

export class HostFollower {
  page: LivePage;
  training: HostTraining | null;
  view: ClassView | null; // what the host shows; null = nobody is followed
  onScreen: string;
  coming: string;
  unable: string;

  /** @param training of the host; null on a page that belongs to no class */
  constructor(page: LivePage, training: HostTraining | null) {
    this.page = page;
    this.training = training;
    this.view = null;
    this.onScreen = ""; // the word of the trace, see `wordOf`
    this.coming = ""; // that of the one that is waited for
    this.unable = ""; // the word of what is followed, where this browser could not compute it
  }

  /** @param asked which is waited for from now on */
  waitFor(asked: Asked) {
    this.coming = wordOf(asked.key ? { key: asked.key } : asked);
  }

  /** Nothing is waited for. */
  rest() {
    this.coming = "";
  }

  /** Draw a trace as the host shows its own or, where nobody is followed, in the player. */
  draw(trace: Trace, listeners: Listeners) {
    this.page.picture.draw(trace, listeners, this.view?.picture ?? "player");
  }

  /** @param word of the trace that has been drawn, see `wordOf` */
  drawn(word: string) {
    this.onScreen = word;
    if (this.view) this.page.picture.follow(this.view.picture, this.view.shown);
  }

  /**
   * Show what the host of a class shows.
   * @param view null = nobody is followed
   */
  follow(view: ClassView | null) {
    this.view = view;
    if (this.training?.follow(view?.training ?? null, this.page.language)) return;
    if (!view) {
      if (!this.onScreen && !this.coming) this.page.followAddress();
      return;
    }
    const { models } = this.page.data;
    const own = sourceOf(view, models);
    const able = !own || wordOf(own) !== this.unable;
    if (able) this.unable = "";
    const source = able ? own : sourceOf(view, models, false);
    if (!source) {
      this.sayNoTrace();
      return;
    }
    const word = wordOf(source);
    if (word === this.onScreen && !this.coming) this.page.picture.follow(view.picture, view.shown);
    else if (word !== this.coming) {
      const { asked, bar } = this.page;
      bar.setDraft(null);
      this.page.ask("key" in source ? { ...source, request: asked.request, view: {} } : source);
    }
  }

  /** Show a host's training in the page's language; whether there is one. */
  speak() {
    if (!this.view?.training) return false;
    this.onScreen = ""; // a trace in another language
    this.follow(this.view);
    return true;
  }

  /**
   * Show the trace of a host, which can be stepped through and looked into; another text is asked of
   * a model of this page.
   * @param latest whether it is waited for still
   */
  async showTrace(key: string, latest: () => boolean) {
    const bytes = await serverBytes(addressOf(`trace/${key}`), null, () => {});
    if (!latest()) return;
    const { page } = this;
    const trace = readTrace(bytes);
    page.shown = null;
    page.messages.hint.textContent = "";
    page.messages.intro.textContent = "";
    trace.header.view.what_if = false;
    trace.header.language = page.language;
    this.draw(trace, READ_ONLY);
    this.drawn(key);
  }

  /**
   * What was asked for while the host is followed could not be shown: the host's own trace may be.
   */
  failed(asked: Asked) {
    this.coming = "";
    if (asked.key) this.sayNoTrace();
    else {
      this.unable = wordOf(asked);
      this.follow(this.view);
    }
  }

  sayNoTrace() {
    const { messages } = this.page;
    messages.say(fillIn(messages.strings.class_tools, "no_trace"));
  }
}
