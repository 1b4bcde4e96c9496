/** What the page says about a text: what it waits for, why a text is not shown, what to look at. */

import { ModelError } from "../../browser_model/js/modelError.ts";
import { element } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { store, stored } from "../../page/js/browserStorage.ts";
import { LONGEST_TEXT } from "../../trace/js/look.ts";
import type { Trace } from "../../trace/js/trace.ts";
import { reads } from "./liveModel.ts";
import type { LivePage } from "./livePage.ts";
import type { LiveRequest } from "./modelWorker.ts";
import { textNote } from "./textNotes.ts";

const USED = "attention-used"; // in the browser's storage: the page is not new to a person
const SLOW = 300; // ms after which a person is told what the page waits for

export class Messages {
  page: LivePage;
  late: boolean;
  timer: ReturnType<typeof setTimeout> | undefined; // after which it is late
  unread: { request: LiveRequest; error: unknown } | null; // a text that could not be read
  used: boolean;
  intro: HTMLParagraphElement;
  hint: HTMLParagraphElement;
  status: HTMLParagraphElement;
  message: HTMLParagraphElement;

  constructor(page: LivePage) {
    this.page = page;
    this.late = false; // whether the person has waited for a while
    this.timer = undefined;
    this.unread = null;
    this.used = stored(USED) !== null; // whether the person has stepped or typed, now or before
    this.intro = element("p", { class: "hint", testid: "intro" });
    this.hint = element("p", { class: "hint", testid: "text-hint" });
    this.status = element("p", { class: "status", role: "status", testid: "status" });
    this.message = element("p", { class: "message", role: "alert", testid: "message" });
  }

  get strings() {
    return this.page.data.strings[this.page.language];
  }

  /** From now on the person waits; who waited already goes on to be told for what. */
  wait() {
    clearTimeout(this.timer);
    this.tell();
    this.timer = setTimeout(() => {
      this.late = true;
      for (const part of [this.page.place, this.hint]) part.classList.add("waiting");
      this.tell();
    }, SLOW);
  }

  /** Nothing is waited for. */
  rest() {
    clearTimeout(this.timer);
    this.late = false;
    for (const part of [this.page.place, this.hint]) part.classList.remove("waiting");
    this.status.textContent = "";
  }

  /**
   * Say what a person waits for: the file of the model that was chosen, or its output.
   * @param decoded so far
   */
  tell(decoded = "") {
    if (!this.late) return;
    const { live, class_tools } = this.strings;
    const { asked, models } = this.page;
    if (asked.key) {
      this.status.textContent = fillIn(class_tools, "trace_loading");
      return;
    }
    const name = asked.request.model;
    const progress = models.progress(name);
    const waits = progress
      ? fillIn(live, "loading", { name, ...progress })
      : fillIn(live, "computing", { name });
    this.status.textContent = decoded || waits;
  }

  /** Say a sentence, and that of a text that could not be read as long as it is in the box. */
  say(problem = "") {
    const { unread } = this;
    const said = unread ? this.sentence(unread.error, unread.request) : "";
    this.message.textContent = [problem, said].filter(Boolean).join(" ");
    if (unread) this.hint.textContent = ""; // it is of the text on screen, which is not in the box
  }

  /** @param request for whose model the page is new to a person */
  introduce(request: LiveRequest) {
    const { intro } = this.page.modelOf(request);
    this.intro.textContent = this.used ? "" : intro[this.page.language];
  }

  /** What is said to begin with is known; it goes when the next text comes. */
  use() {
    if (!this.used) store(USED, "1");
    this.used = true;
  }

  /** What to look at in an example; of another text what the model does not know of it. */
  hintOf({ header }: Trace, request: LiveRequest) {
    const model = this.page.modelOf(request);
    const example = model.examples.find(({ text }) => text === request.text);
    if (example) return example.hint[this.page.language];
    const length = header.content.source.filter(Boolean).length;
    const note = textNote(model, request.text, header.source, length);
    return note ? fillIn(this.strings.explore, note.key, note.facts) : "";
  }

  /** @param request that failed */
  sentence(error: unknown, { text }: LiveRequest) {
    const { live, errors } = this.strings;
    if (!(error instanceof ModelError && error.key)) {
      const problem = String((error instanceof ModelError && error.facts.problem) || error);
      return fillIn(live, "unexpected", { problem });
    }
    const said = fillIn({ ...errors, ...live }, error.key, error.facts);
    const { models } = this.page.data;
    const other = models.find((model) => !model.symbols.length && reads(model, text));
    if (error.key !== "unknown_symbol" || !other) return said;
    return `${said} ${fillIn(live, "choose_translator", { name: other.name })}`;
  }

  /** @param names of parameters */
  refusal(names: string[]) {
    const { explore } = this.strings;
    const parts = names.map((name) => fillIn(explore, `part_${name}`, { longest: LONGEST_TEXT }));
    return fillIn(explore, "link_refused", { parts: parts.join(explore.part_separator) });
  }
}
