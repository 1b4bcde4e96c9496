/**
 * A page on which the browser itself decodes: input, messages and the player. Its models are in a
 * worker, its address is a link to what is on screen.
 *
 * @import { Selection } from "../../shared/js/look.js"
 * @import { Strings } from "../../shared/js/sentences.js"
 * @import { Trace } from "../../shared/js/trace.js"
 * @import { PageLanguage } from "./languages.js"
 * @import { LiveModel } from "./liveModel.js"
 * @import { ModelClient } from "./modelClient.js"
 * @import { LiveRequest, Questions } from "./modelWorker.js"
 * @import { InitialView } from "./initialView.js"
 * @typedef {object} PageData what `explorer/components/live/page.py` writes
 * @property {string} project name and version
 * @property {Record<string, PageLanguage>} languages by code
 * @property {LiveModel[]} models
 * @property {Record<string, Record<"live" | "explore" | "errors" | "player" | "training_replay" | "class_tools" | "heads", Strings>>} strings
 *   by language
 * @property {{text: string, pad: number} | null} opening of a page with one text
 * @property {boolean} site whether lessons and a recorded training lie beside this page
 * @property {{name: string, title: Record<string, string>}[]} lessons
 * @typedef {object} Asked
 * @property {LiveRequest} request
 * @property {InitialView} view where not as the model opens
 * @property {boolean} [typed] whether it was sent from the text box
 * @property {string[]} [refused] parameters of a link that could not be followed
 * @property {string} [problem] a sentence on the text that this one stands for
 * @property {string} [key] of the trace of a host, which is shown in the place of the request's
 */

import { Guest } from "../../classroom/js/guest.js";
import { store, stored } from "../../shared/js/browserStorage.js";
import { element } from "../../shared/js/element.js";
import { frameShown } from "../../shared/js/frame.js";
import { flagsOf } from "../../shared/js/initialState.js";
import { fillIn } from "../../shared/js/sentences.js";
import { readTrace } from "../../shared/js/trace.js";
import { watchTheme } from "../../shared/js/watchers.js";
import { readAddress, sameRequest, writeAddress } from "./address.js";
import { createHeader } from "./header.js";
import { HostFollower } from "./hostFollower.js";
import { HostTraining } from "./hostTraining.js";
import { wordOf } from "./hostView.js";
import { missingIn, viewWithout } from "./initialView.js";
import { createInputBar } from "./inputBar.js";
import { offerInstallation } from "./installation.js";
import { nearestLanguage } from "./languages.js";
import { initialRequest } from "./liveModel.js";
import { Messages } from "./messages.js";
import { ModelLoader } from "./modelLoader.js";
import { followLast, putAddress } from "./pageHistory.js";
import { playerListeners } from "./playerListeners.js";
import { TracePicture } from "./tracePicture.js";
import { TraceQueue } from "./traceQueue.js";

/** Whether the server of a class has sent this page to a guest. */
const IN_CLASS = document.documentElement.hasAttribute("data-class");

const LANGUAGE = "attention-language"; // in the browser's storage
const TYPED_ON = 700; // ms in which somebody who types on has not seen yet that a text is shown

/** @param {string} id */
function found(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

export class LivePage {
  /**
   * @param {PageData} data
   * @param {string} workerSource
   */
  constructor(data, workerSource) {
    this.data = data;
    followLast();
    this.models = new ModelLoader(data.models, workerSource, () => this.messages.tell());
    this.languages = Object.keys(data.languages);
    this.language = this.chosenLanguage();
    this.turn = 0; // of the latest request; an answer to an earlier one is not shown
    /** @type {Asked} the latest request, which a control changes, on screen or not yet */
    this.asked = { request: initialRequest(data.models[0]), view: {} };
    /** @type {Set<string>} models whose files could not be opened, until something is on screen */
    this.unopened = new Set();
    this.traces = new TraceQueue();
    /** @type {LiveRequest | null} on screen */
    this.shown = null;
    this.focused = Number.NEGATIVE_INFINITY; // when the player got the focus of the text box
    this.place = element("main", { id: "player" });
    this.picture = new TracePicture(this.place, data.strings);
    this.messages = new Messages(this);
    const training = IN_CLASS ? new HostTraining((language) => data.strings[language]) : null;
    this.host = new HostFollower(this, training);
    const guest = {
      follow: this.host.follow.bind(this.host),
      open: this.followAddress.bind(this),
      leave: () => this.picture.turnTo("player"),
    };
    this.guest = IN_CLASS ? new Guest(guest) : null;
    this.bar = this.build();
    this.place.addEventListener("keydown", (event) => this.typeOn(event), { capture: true });
    window.addEventListener("hashchange", () => {
      this.guest?.touch();
      if (this.guest?.state !== "following") this.followAddress(); // else an open vote covers it
    });
  }

  /** Draw everything but the player, which draws itself, in the language. */
  build() {
    document.documentElement.lang = this.data.languages[this.language].tag;
    const { live, explore, class_tools } = this.data.strings[this.language];
    const say = (/** @type {string} */ key, /** @type {object} */ facts = {}) =>
      fillIn({ ...live, ...explore }, key, /** @type {any} */ (facts));
    const alone = this.data.models.length === 1 ? `${this.data.models[0].name} · ` : "";
    document.title = `${alone}${say("page_title")}`;
    const bar = createInputBar(this.data.models, this.language, say, {
      onRequest: (request, typed) => this.ask({ request, view: this.keptView(), typed }),
      onEdit: (request) => this.edited(request),
    });
    const header = createHeader(this.data, this.language, say, (language) => this.speak(language));
    const { intro, hint, status, message } = this.messages;
    const top = element("div", { class: "top" }, header, intro, bar.element, hint, status, message);
    const inClass = this.guest?.build((key, facts) => fillIn(class_tools, key, facts));
    const above = inClass ? [inClass, top] : [top];
    const { training } = this.host;
    found("live").replaceChildren(...above, this.place, ...(training ? [training.element] : []));
    if (inClass) watchTheme(inClass, () => {});
    const measured = new ResizeObserver(() => {
      const height = above.reduce((sum, part) => sum + part.offsetHeight, 0);
      document.documentElement.style.setProperty("--top-height", `${height}px`);
    });
    for (const part of above) measured.observe(part);
    return bar;
  }

  /** The language of the link, of the last visit or of the browser. */
  chosenLanguage() {
    const linked = readAddress(location.hash, this.data.models, this.languages).language;
    const own = navigator.languages ?? [navigator.language];
    const near = own.map((tag) => nearestLanguage(tag, this.languages));
    const wanted = [linked, stored(LANGUAGE), ...near, "en"];
    return wanted.find((name) => name && this.languages.includes(name)) ?? this.languages[0];
  }

  /** @param {string} language */
  speak(language) {
    this.language = language;
    store(LANGUAGE, language);
    const draft = this.bar.draft();
    this.bar = this.build();
    this.bar.setDraft(draft);
    const { view } = readAddress(location.hash, this.data.models, this.languages);
    const { request } = this.asked;
    if (!this.host.speak()) this.ask(request === this.shown ? { request, view } : this.asked);
  }

  /** Show what the address asks for; who goes back to an earlier one keeps the language. */
  followAddress() {
    const { request, view, refused } = readAddress(location.hash, this.data.models, this.languages);
    const { opening } = this.data;
    const asked = location.hash.length > 1 || !opening ? request : { ...request, ...opening };
    this.bar.setDraft(null);
    this.ask({ request: asked, view, refused });
  }

  /** @param {LiveRequest} request */
  modelOf({ model }) {
    return /** @type {LiveModel} */ (this.data.models.find(({ name }) => name === model));
  }

  /**
   * Trace a text and show it; what was asked before is not waited for any longer.
   * @param {Asked} asked
   */
  async ask(asked) {
    this.turn += 1;
    const { turn } = this;
    const latest = () => turn === this.turn;
    this.asked = asked;
    const { host, messages } = this;
    host.waitFor(asked);
    this.bar.show(asked.request);
    if (messages.unread?.request.text !== this.bar.draft()) messages.unread = null;
    messages.say(asked.problem);
    if (asked.typed) messages.use();
    messages.introduce(asked.request);
    messages.wait();
    let open = false;
    try {
      if (asked.key) {
        await host.showTrace(asked.key, latest);
        return;
      }
      const client = await this.models.open(asked.request.model);
      open = true;
      messages.tell();
      const bytes = await this.traces.trace(client, this.question(asked), {
        wanted: latest,
        onText: (decoded) => latest() && messages.tell(decoded),
      });
      if (!latest() || !bytes) return;
      this.show(readTrace(bytes), asked, client);
      this.checkShown(client, asked.request);
    } catch (error) {
      if (!latest()) return;
      if (host.view) host.failed(asked);
      else this.refuse(asked, error, open);
    } finally {
      if (latest()) {
        host.rest();
        messages.rest();
      }
    }
  }

  /**
   * Check the trace on screen, once it is there: the checks take passes of their own.
   * @param {ModelClient} client
   * @param {LiveRequest} request
   */
  async checkShown(client, request) {
    await frameShown();
    if (request !== this.shown) return;
    try {
      const checks = await client.ask("integrity", { request });
      if (request === this.shown) this.picture.check(checks);
    } catch (error) {
      this.messages.say(this.messages.sentence(error, request));
    }
  }

  /**
   * @param {Asked} asked
   * @returns {Questions["trace"]}
   */
  question({ request, view }) {
    const shown = { language: this.language, project: this.data.project };
    return { request, shown, opening: this.modelOf(request).opening ?? {}, view };
  }

  /** What another text keeps of the one on screen. */
  keptView() {
    const now = this.picture.selection();
    return flagsOf((name) => now?.[name] ?? null);
  }

  /**
   * A text was changed that is not sent yet.
   * @param {LiveRequest} request with it
   */
  async edited(request) {
    this.messages.unread = null;
    this.messages.say();
    if (request.model !== this.shown?.model) return; // not open yet
    const client = await this.models.open(request.model);
    this.traces.traceAhead(client, this.question({ request, view: this.keptView() }));
  }

  /**
   * Say why a text is not shown, and leave it in its box. A model that was chosen opens with another
   * one; else the picture stays, or that of another model comes where there is none.
   * @param {Asked} asked
   * @param {unknown} error
   * @param {boolean} open whether its model is
   */
  refuse({ request, refused, problem: before }, error, open) {
    const { messages } = this;
    const unfollowed = refused?.length ? messages.refusal(refused) : "";
    const initial = initialRequest(this.modelOf(request));
    const given = request.text !== initial.text;
    if (given && this.bar.draft() === null) this.bar.setDraft(request.text);
    messages.unread = request.text === this.bar.draft() ? { request, error } : null;
    const said = messages.unread ? "" : messages.sentence(error, request);
    const problem = before ?? [unfollowed, said].filter(Boolean).join(" ");
    const other = request.forced.length ? { ...request, forced: [] } : initial;
    if (open && request.model !== this.shown?.model && (given || request.forced.length)) {
      this.ask({ request: other, view: {}, problem });
      return;
    }
    if (!open && !this.shown) {
      this.unopened.add(request.model);
      const next = this.data.models.find(({ name }) => !this.unopened.has(name));
      if (next) {
        this.ask({ request: initialRequest(next), view: {}, problem });
        return;
      }
      this.unopened.clear();
    }
    this.asked = { request: this.shown ?? request, view: {} };
    this.bar.show(this.asked.request);
    if (this.shown) messages.introduce(this.shown);
    else messages.intro.textContent = "";
    this.picture.rest();
    messages.say(problem);
  }

  /**
   * @param {Trace} trace
   * @param {Asked} asked
   * @param {ModelClient} client
   */
  show(trace, { request, view, typed, refused }, client) {
    const first = this.shown === null;
    this.shown = request;
    const { host, messages } = this;
    messages.hint.textContent = messages.unread ? "" : messages.hintOf(trace, request);
    const resources = {
      held: null,
      fetch: (/** @type {string} */ name, /** @type {string} */ place) =>
        client.ask("resource", { request, name, place }),
    };
    host.draw(trace, { ...playerListeners(this, request), resources });
    const { sites, target } = trace.header;
    const missing = missingIn(sites, target.length, view);
    const addressed = readAddress(location.hash, this.data.models, this.languages).request;
    const replace = first || host.view !== null || sameRequest(addressed, request); // as after Back
    this.writeAddress(viewWithout(missing, view), replace);
    host.drawn(wordOf({ request, view }));
    const unfollowed = refused ? [...refused, ...missing] : [];
    if (unfollowed.length) messages.say(messages.refusal(unfollowed));
    if (!typed || this.bar.draft() !== null) return; // who types on keeps the text box
    this.place.querySelector(/** @type {"div"} */ (".player"))?.focus({ preventScroll: true });
    this.focused = performance.now();
  }

  /**
   * Letters that follow a sent text at once are meant for its box, not for the shortcuts of the
   * player, which has the focus.
   * @param {KeyboardEvent} event
   */
  typeOn(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    const letter = key.length === 1 && !ctrlKey && !metaKey && !altKey;
    if (!letter || performance.now() - this.focused > TYPED_ON) return;
    event.stopPropagation();
    this.bar.focus(); // which receives the letter
  }

  /**
   * @param {InitialView | Selection} selection
   * @param {boolean} replace whether Back skips what the address says now
   */
  writeAddress(selection, replace) {
    if (!this.shown) return;
    putAddress(writeAddress(this.shown, selection, this.language), replace);
  }
}

const data = /** @type {PageData} */ (JSON.parse(found("page-data").textContent ?? ""));
if ("ResizeObserver" in window) {
  const page = new LivePage(data, found("worker").textContent ?? "");
  if (!IN_CLASS) page.followAddress();
} else found("not-started").classList.add("at-once"); // an older browser draws no map

if (data.site && !IN_CLASS) offerInstallation();
