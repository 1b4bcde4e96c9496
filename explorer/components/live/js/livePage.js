/**
 * A page on which the browser itself decodes: input, messages and the player. Its models are in a
 * worker, its address is a link to what is on screen.
 *
 * @import { ClassView } from "../../classroom/js/classroom.js"
 * @import { Listeners } from "../../player/js/player.js"
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
 * @property {Record<string, Record<"live" | "explore" | "errors" | "player" | "training_replay" | "class_tools", Strings>>} strings
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

import { ModelError } from "../../browser_model/js/modelError.js";
import { Guest } from "../../classroom/js/guest.js";
import { addressOf } from "../../classroom/js/stream.js";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.js";
import { mountPlayer } from "../../player/js/player.js";
import { element } from "../../shared/js/element.js";
import { frameShown } from "../../shared/js/frame.js";
import { flagsOf } from "../../shared/js/initialState.js";
import { LAST_SHOWN, LONGEST_TEXT } from "../../shared/js/look.js";
import { fillIn } from "../../shared/js/sentences.js";
import { readTrace } from "../../shared/js/trace.js";
import { serverBytes } from "../../shared/js/traceQuestions.js";
import { watchTheme } from "../../shared/js/watchers.js";
import { readAddress, writeAddress } from "./address.js";
import { createHeader } from "./header.js";
import { HostTraining } from "./hostTraining.js";
import { sourceOf, wordOf } from "./hostView.js";
import { missingIn, viewWithout } from "./initialView.js";
import { createInputBar } from "./inputBar.js";
import { nearestLanguage } from "./languages.js";
import { initialRequest, reads } from "./liveModel.js";
import { ModelLoader } from "./modelLoader.js";
import { textNote } from "./textNotes.js";
import { TraceQueue } from "./traceQueue.js";

/** Whether the server of a class has sent this page to a guest. */
const IN_CLASS = document.documentElement.hasAttribute("data-class");

/** @type {Listeners} of the trace of a host, about which its server answers */
const READ_ONLY = {
  onState: undefined,
  onForce: undefined,
  onUnforce: undefined,
  onReset: undefined,
  resources: undefined,
};

const TYPED_ON = 700; // ms in which somebody who types on has not seen yet that a text is shown
const SLOW = 300; // ms after which a person is told what the page waits for

/** @param {string} id */
function found(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

class LivePage {
  /**
   * @param {PageData} data
   * @param {string} workerSource
   */
  constructor(data, workerSource) {
    this.data = data;
    this.followLast();
    this.models = new ModelLoader(data.models, workerSource, () => this.tell());
    this.languages = Object.keys(data.languages);
    this.language = this.chosenLanguage();
    this.turn = 0; // of the latest request; an answer to an earlier one is not shown
    this.late = false; // whether the person has waited for a while
    /** @type {ReturnType<typeof setTimeout> | undefined} after which it is late */
    this.timer = undefined;
    /** @type {Asked} the latest request, which a control changes, on screen or not yet */
    this.asked = { request: initialRequest(data.models[0]), view: {} };
    /** @type {Set<string>} models whose files could not be opened, until something is on screen */
    this.unopened = new Set();
    this.traces = new TraceQueue();
    /** @type {LiveRequest | null} on screen */
    this.shown = null;
    /** @type {{request: LiveRequest, error: unknown} | null} a text that could not be read */
    this.unread = null;
    /** @type {ReturnType<typeof mountPlayer> | null} */
    this.player = null;
    this.message = element("p", { class: "message", role: "alert", testid: "message" });
    this.status = element("p", { class: "status", role: "status", testid: "status" });
    this.hint = element("p", { class: "hint", testid: "text-hint" });
    this.intro = element("p", { class: "hint", testid: "intro" });
    this.focused = Number.NEGATIVE_INFINITY; // when the player got the focus of the text box
    this.used = stored(USED) !== null; // whether the person has stepped or typed, now or before
    this.place = element("main", { id: "player" });
    this.onScreen = ""; // the word of the trace, see `wordOf`
    this.coming = ""; // that of the one that is waited for
    /** @type {Set<string>} words of requests of a host that this browser could not compute */
    this.unable = new Set();
    /** @type {ClassView | null} of the host of a class, which is followed */
    this.hosts = null;
    const guest = { follow: this.follow.bind(this), open: this.followAddress.bind(this) };
    this.guest = IN_CLASS ? new Guest(guest) : null;
    this.training = IN_CLASS ? new HostTraining((language) => data.strings[language]) : null;
    this.bar = this.build();
    this.place.addEventListener("keydown", (event) => this.typeOn(event), { capture: true });
    window.addEventListener("hashchange", () => {
      this.guest?.touch();
      this.followAddress();
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
    const top = element(
      "div",
      { class: "top" },
      header,
      this.intro,
      bar.element,
      this.hint,
      this.status,
      this.message,
    );
    const inClass = this.guest?.build((key, facts) => fillIn(class_tools, key, facts));
    const above = inClass ? [inClass, top] : [top];
    const below = this.training ? [this.place, this.training.element] : [this.place];
    found("live").replaceChildren(...above, ...below);
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
    if (this.hosts?.training) {
      this.onScreen = ""; // in another language
      this.follow(this.hosts);
    } else this.ask(request === this.shown ? { request, view } : this.asked);
  }

  /** Show what the address asks for; who goes back to an earlier one keeps the language. */
  followAddress() {
    const { request, view, refused } = readAddress(location.hash, this.data.models, this.languages);
    const { opening } = this.data;
    const asked = location.hash.length > 1 || !opening ? request : { ...request, ...opening };
    this.bar.setDraft(null);
    this.ask({ request: asked, view, refused });
  }

  /** Who comes back from another page of the static site finds what was on screen before. */
  followLast() {
    const query = new URLSearchParams(location.hash.slice(1));
    if (!query.has(LAST_SHOWN)) return;
    query.delete(LAST_SHOWN);
    history.replaceState(null, "", stored(LAST, ofTab) ?? `#${query}`);
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
    this.coming = wordOf(asked.key ? { key: asked.key } : asked);
    this.bar.show(asked.request);
    if (this.unread?.request.text !== this.bar.draft()) this.unread = null;
    this.say(asked.problem);
    if (asked.typed) this.use();
    this.introduce(asked.request);
    this.wait();
    let open = false;
    try {
      if (asked.key) {
        const bytes = await serverBytes(addressOf(`trace/${asked.key}`), null, () => {});
        if (latest()) this.showHosts(readTrace(bytes), asked.key);
        return;
      }
      const client = await this.models.open(asked.request.model);
      open = true;
      this.tell();
      const bytes = await this.traces.trace(client, this.question(asked), {
        wanted: latest,
        onText: (decoded) => latest() && this.tell(decoded),
      });
      if (!latest() || !bytes) return;
      this.show(readTrace(bytes), asked, client);
      this.checkShown(client, asked.request);
    } catch (error) {
      if (latest()) this.fail(asked, error, open);
    } finally {
      if (latest()) this.rest();
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
      if (request === this.shown) this.player?.check(checks);
    } catch (error) {
      this.say(this.sentence(error, request));
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

  /** From now on the person waits; who waited already goes on to be told for what. */
  wait() {
    clearTimeout(this.timer);
    this.tell();
    this.timer = setTimeout(() => {
      this.late = true;
      for (const part of [this.place, this.hint]) part.classList.add("waiting");
      this.tell();
    }, SLOW);
  }

  /** What another text keeps of the one on screen. */
  keptView() {
    const now = this.player?.selection();
    return flagsOf((name) => now?.[name] ?? null);
  }

  /**
   * A text was changed that is not sent yet.
   * @param {LiveRequest} request with it
   */
  async edited(request) {
    this.unread = null;
    this.say();
    if (request.model !== this.shown?.model) return; // not open yet
    const client = await this.models.open(request.model);
    this.traces.traceAhead(client, this.question({ request, view: this.keptView() }));
  }

  /**
   * Say a sentence, and that of a text that could not be read as long as it is in the box.
   * @param {string} [problem]
   */
  say(problem = "") {
    const { unread } = this;
    const said = unread ? this.sentence(unread.error, unread.request) : "";
    this.message.textContent = [problem, said].filter(Boolean).join(" ");
    if (unread) this.hint.textContent = ""; // it is of the text on screen, which is not in the box
  }

  /** @param {LiveRequest} request for whose model the page is new to a person */
  introduce(request) {
    this.intro.textContent = this.used ? "" : this.modelOf(request).intro[this.language];
  }

  /** What is said to begin with is known; it goes when the next text comes. */
  use() {
    if (!this.used) store(USED, "1");
    this.used = true;
  }

  /** Nothing is waited for. */
  rest() {
    clearTimeout(this.timer);
    this.coming = "";
    this.late = false;
    for (const part of [this.place, this.hint]) part.classList.remove("waiting");
    this.status.textContent = "";
  }

  /**
   * Say what a person waits for: the file of the model that was chosen, or its output.
   * @param {string} decoded so far
   */
  tell(decoded = "") {
    if (!this.late) return;
    const { live, class_tools } = this.data.strings[this.language];
    if (this.asked.key) {
      this.status.textContent = fillIn(class_tools, "trace_loading");
      return;
    }
    const name = this.asked.request.model;
    const progress = this.models.progress(name);
    const waits = progress
      ? fillIn(live, "loading", { name, ...progress })
      : fillIn(live, "computing", { name });
    this.status.textContent = decoded || waits;
  }

  /**
   * @param {Asked} asked
   * @param {unknown} error
   * @param {boolean} open whether its model is
   */
  fail(asked, error, open) {
    if (!this.hosts) {
      this.refuse(asked, error, open);
      return;
    }
    this.coming = "";
    if (asked.key) this.say(fillIn(this.data.strings[this.language].class_tools, "no_trace"));
    else {
      this.unable.add(wordOf(asked));
      this.follow(this.hosts);
    }
  }

  /**
   * Show what the host of a class shows.
   * @param {ClassView | null} view null = nobody is followed
   */
  follow(view) {
    this.hosts = view;
    if (this.training?.follow(view?.training ?? null, this.language)) return;
    if (!view) {
      if (!this.onScreen && !this.coming) this.followAddress();
      return;
    }
    const { models } = this.data;
    const own = sourceOf(view, models);
    const able = !own || !this.unable.has(wordOf(own));
    const source = able ? own : sourceOf(view, models, false);
    if (!source) {
      this.say(fillIn(this.data.strings[this.language].class_tools, "no_trace"));
      return;
    }
    const word = wordOf(source);
    if (word === this.onScreen && !this.coming) this.player?.follow(view.shown);
    else if (word !== this.coming) {
      this.bar.setDraft(null);
      this.ask("key" in source ? { ...source, request: this.asked.request, view: {} } : source);
    }
  }

  /**
   * Show the trace of a host, which can be stepped through and looked into; another text is asked of
   * a model of this page.
   * @param {Trace} trace
   * @param {string} key
   */
  showHosts(trace, key) {
    this.shown = null;
    this.hint.textContent = "";
    this.intro.textContent = "";
    trace.header.view.what_if = false;
    trace.header.language = this.language;
    this.draw(trace, READ_ONLY);
    this.onScreen = key;
    if (this.hosts) this.player?.follow(this.hosts.shown);
  }

  /**
   * @param {Trace} trace
   * @param {Listeners} listeners
   */
  draw(trace, listeners) {
    trace.header.strings = this.data.strings[trace.header.language].player;
    if (this.player) {
      this.player.listen(listeners);
      this.player.update(trace);
    } else this.player = mountPlayer(this.place, trace, { plotly: embeddedPlotly, ...listeners });
  }

  /**
   * Say why a text is not shown, and leave it in its box. A model that was chosen opens with another
   * one; else the picture stays, or that of another model comes where there is none.
   * @param {Asked} asked
   * @param {unknown} error
   * @param {boolean} open whether its model is
   */
  refuse({ request, refused, problem: before }, error, open) {
    const unfollowed = refused?.length ? this.refusal(refused) : "";
    const initial = initialRequest(this.modelOf(request));
    const given = request.text !== initial.text;
    if (given && this.bar.draft() === null) this.bar.setDraft(request.text);
    this.unread = request.text === this.bar.draft() ? { request, error } : null;
    const said = this.unread ? "" : this.sentence(error, request);
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
    if (this.shown) this.introduce(this.shown);
    else this.intro.textContent = "";
    this.player?.listen({}); // it waits no longer
    this.say(problem);
  }

  /**
   * @param {Trace} trace
   * @param {Asked} asked
   * @param {ModelClient} client
   */
  show(trace, { request, view, typed, refused }, client) {
    const first = this.shown === null;
    this.shown = request;
    this.hint.textContent = this.unread ? "" : this.hintOf(trace, request);
    const resources = {
      held: null,
      fetch: (/** @type {string} */ name, /** @type {string} */ place) =>
        client.ask("resource", { request, name, place }),
    };
    this.draw(trace, { ...this.listeners(request), resources });
    this.onScreen = wordOf({ request, view });
    const { sites, target } = trace.header;
    const missing = missingIn(sites, target.length, view);
    const addressed = readAddress(location.hash, this.data.models, this.languages).request;
    const replace = first || this.hosts !== null || sameRequest(addressed, request); // as after Back
    this.writeAddress(viewWithout(missing, view), replace);
    if (this.hosts) this.player?.follow(this.hosts.shown);
    const unfollowed = refused ? [...refused, ...missing] : [];
    if (unfollowed.length) this.say(this.refusal(unfollowed));
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
   * What to look at in an example; of another text what the model does not know of it.
   * @param {Trace} trace
   * @param {LiveRequest} request
   */
  hintOf({ header }, request) {
    const model = this.modelOf(request);
    const example = model.examples.find(({ text }) => text === request.text);
    if (example) return example.hint[this.language];
    const length = header.content.source.filter(Boolean).length;
    const note = textNote(model, request.text, header.source, length);
    return note ? fillIn(this.data.strings[this.language].explore, note.key, note.facts) : "";
  }

  /**
   * What the player reports and asks for.
   * @param {LiveRequest} request
   */
  listeners(request) {
    /** @param {[number, number][]} forced @param {number} step */
    const force = (forced, step) => {
      if (!sameSource(this.asked.request, request)) return; // what is on screen is being replaced
      const player = /** @type {ReturnType<typeof mountPlayer>} */ (this.player); // that asks
      const { site, layer, head, ahead } = player.selection();
      const view = { site, layer, head, ahead, step, ...this.keptView() };
      this.ask({ request: { ...request, forced }, view });
    };
    return {
      onState: (/** @type {Selection} */ selection) => {
        this.use();
        if (this.asked.request !== this.shown) return; // the address is of a text on its way
        this.writeAddress(selection, true);
      },
      onForce: (
        /** @type {number} */ step,
        /** @type {number} */ id,
        /** @type {boolean} */ alone,
      ) => {
        const kept = request.forced.filter(([at]) => (alone ? at !== step : at < step));
        const forced = /** @type {[number, number][]} */ ([...kept, [step, id]]);
        force(
          forced.sort(([one], [other]) => one - other),
          step,
        );
      },
      onUnforce: (/** @type {number} */ step) =>
        force(
          request.forced.filter(([at]) => at !== step),
          step,
        ),
      onReset: () => force([], this.player?.selection().step ?? 1),
    };
  }

  /**
   * @param {InitialView | Selection} selection
   * @param {boolean} replace whether Back skips what the address says now
   */
  writeAddress(selection, replace) {
    if (!this.shown) return;
    const fragment = writeAddress(this.shown, selection, this.language);
    store(LAST, fragment, ofTab);
    try {
      if (replace) history.replaceState(null, "", fragment);
      else history.pushState(null, "", fragment);
    } catch {
      // a browser refuses more than so many addresses a minute; the next one is written again
    }
  }

  /**
   * @param {unknown} error
   * @param {LiveRequest} request that failed
   */
  sentence(error, { text }) {
    const { live, errors } = this.data.strings[this.language];
    if (!(error instanceof ModelError && error.key)) {
      const problem = String(/** @type {any} */ (error)?.facts?.problem ?? error);
      return fillIn(live, "unexpected", { problem });
    }
    const said = fillIn({ ...errors, ...live }, error.key, /** @type {any} */ (error.facts));
    const other = this.data.models.find((model) => !model.symbols.length && reads(model, text));
    if (error.key !== "unknown_symbol" || !other) return said;
    return `${said} ${fillIn(live, "choose_translator", { name: other.name })}`;
  }

  /** @param {string[]} names of parameters */
  refusal(names) {
    const { explore } = this.data.strings[this.language];
    const parts = names.map((name) => fillIn(explore, `part_${name}`, { longest: LONGEST_TEXT }));
    return fillIn(explore, "link_refused", { parts: parts.join(explore.part_separator) });
  }
}

/**
 * Whether two requests have the same model read the same tokens.
 * @param {LiveRequest} one
 * @param {LiveRequest} other
 */
function sameSource(one, other) {
  return sameRequest({ ...one, forced: [] }, { ...other, forced: [] });
}

/**
 * Whether two requests are of the same trace.
 * @param {LiveRequest} one
 * @param {LiveRequest} other
 */
function sameRequest(one, other) {
  return writeAddress(one, {}, "") === writeAddress(other, {}, "");
}

const LAST = "attention-last"; // address, of a tab
const LANGUAGE = "attention-language";
const USED = "attention-used";

/** @typedef {() => Storage} Place which a page may not have */
const ofBrowser = () => localStorage;
const ofTab = () => sessionStorage;

/** @param {string} name @param {Place} [place] */
function stored(name, place = ofBrowser) {
  try {
    return place().getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value @param {Place} [place] */
function store(name, value, place = ofBrowser) {
  try {
    place().setItem(name, value);
  } catch {
    // it is asked again next time
  }
}

const data = /** @type {PageData} */ (JSON.parse(found("page-data").textContent ?? ""));
if ("ResizeObserver" in window) {
  const page = new LivePage(data, found("worker").textContent ?? "");
  if (!IN_CLASS) page.followAddress();
} else found("not-started").classList.add("at-once"); // an older browser draws no map

if (data.site && !IN_CLASS && location.protocol.startsWith("http")) {
  document.head.append(
    linkTo("manifest", "app.webmanifest"),
    linkTo("apple-touch-icon", "icon-192.png"),
  );
  // Without a service worker offline is not promised.
  navigator.serviceWorker?.register("service-worker.js").catch(() => {});
}

/**
 * What a browser installs the static site with. From disk there is nothing to install, and a
 * browser refuses the manifest.
 * @param {string} rel
 * @param {string} href
 */
function linkTo(rel, href) {
  return Object.assign(document.createElement("link"), { rel, href });
}
