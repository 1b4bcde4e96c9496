/**
 * A page on which the browser itself decodes: input, messages and the player. Its models are in a
 * worker, its address is a link to what is on screen.
 *
 * @import { Selection } from "../../shared/js/selectionReport.js"
 * @import { Strings } from "../../shared/js/sentences.js"
 * @import { Trace } from "../../shared/js/trace.js"
 * @import { LiveModel } from "./liveModel.js"
 * @import { ModelClient } from "./modelClient.js"
 * @import { LiveRequest } from "./modelWorker.js"
 * @import { OpeningView } from "./openingView.js"
 * @typedef {object} PageData what `explorer/components/live/page.py` writes
 * @property {string} project name and version
 * @property {LiveModel[]} models
 * @property {Record<string, Record<"live" | "explore" | "errors" | "player", Strings>>} strings by
 *   language
 * @property {{text: string, pad: number} | null} opening of a page with one text
 * @property {string} version of a site, whose lessons and recorded training lie beside this page; ""
 *   of a page alone
 * @property {{name: string, title: Record<string, string>}[]} lessons
 */

import { ModelError } from "../../browser_model/js/modelError.js";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.js";
import { mountPlayer } from "../../player/js/player.js";
import { element } from "../../shared/js/element.js";
import { servedPlotly } from "../../shared/js/plotly.js";
import { fillIn } from "../../shared/js/sentences.js";
import { readTrace } from "../../shared/js/trace.js";
import { readAddress, writeAddress } from "./address.js";
import { createHeader } from "./header.js";
import { createInputBar } from "./inputBar.js";
import { createModelClient } from "./modelClient.js";
import { openModel, tooLarge } from "./modelFiles.js";

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
    this.workerSource = workerSource;
    this.languages = Object.keys(data.strings);
    this.language = this.chosenLanguage();
    this.turn = 0; // of the latest request; an answer to an earlier one is not shown
    this.late = false; // whether the person has waited for a while
    /** @type {LiveRequest | null} on screen */
    this.shown = null;
    /** @type {ModelClient | null} */
    this.client = null;
    /** @type {Map<string, Promise<unknown>>} by name */
    this.opened = new Map();
    /** @type {ReturnType<typeof mountPlayer> | null} */
    this.player = null;
    this.message = element("p", { class: "message", role: "alert", testid: "message" });
    this.status = element("p", { class: "status", role: "status", testid: "status" });
    this.hint = element("p", { class: "hint", testid: "text-hint" });
    this.place = element("main", { id: "player" });
    this.bar = this.build();
    window.addEventListener("hashchange", () => this.followAddress());
  }

  /** Draw everything but the player, which draws itself, in the language. */
  build() {
    document.documentElement.lang = this.language === "zh" ? "zh-Hans" : this.language;
    const { live, explore } = this.data.strings[this.language];
    const say = (/** @type {string} */ key, /** @type {object} */ facts = {}) =>
      fillIn({ ...live, ...explore }, key, /** @type {any} */ (facts));
    document.title = say("page_title");
    const bar = createInputBar(this.data.models, this.language, say, (request, typed) =>
      this.ask(request, { words: this.player?.selection().words ?? null }, typed),
    );
    const header = createHeader(this.data, this.language, say, (language) => this.speak(language));
    const top = element(
      "div",
      { class: "top" },
      header,
      bar.element,
      this.hint,
      this.status,
      this.message,
    );
    found("live").replaceChildren(top, this.place);
    new ResizeObserver(() => {
      document.documentElement.style.setProperty("--top-height", `${top.offsetHeight}px`);
    }).observe(top);
    return bar;
  }

  /** The language of the link, of the last visit or of the browser. */
  chosenLanguage() {
    const linked = readAddress(location.hash, this.data.models, this.languages).language;
    const own = (navigator.languages ?? [navigator.language]).map((name) => name.slice(0, 2));
    const wanted = [linked, storedLanguage(), ...own, "en"];
    return wanted.find((name) => name && this.languages.includes(name)) ?? this.languages[0];
  }

  /** @param {string} language */
  speak(language) {
    this.language = language;
    storeLanguage(language);
    this.bar = this.build();
    if (!this.shown) return;
    const { view } = readAddress(location.hash, this.data.models, this.languages);
    this.ask(this.shown, view, false);
  }

  /** Show what the address asks for; who goes back to an earlier one keeps the language. */
  followAddress() {
    const { request, view, refused } = readAddress(location.hash, this.data.models, this.languages);
    const { opening } = this.data;
    const asked = location.hash.length > 1 || !opening ? request : { ...request, ...opening };
    this.ask(asked, view, false, refused);
  }

  /**
   * With which head a model opens.
   * @param {LiveRequest} request
   * @returns {OpeningView}
   */
  openingOf({ model }) {
    const opening = this.data.models.find(({ name }) => name === model)?.opening;
    return opening ?? {};
  }

  /**
   * Trace a text and show it; an error leaves the picture and says a sentence.
   * @param {LiveRequest} request
   * @param {OpeningView} view where not as the model opens
   * @param {boolean} typed
   * @param {string[]} refused parameters of a link that could not be followed
   */
  async ask(request, view, typed, refused = []) {
    this.turn += 1;
    const { turn } = this;
    this.late = false;
    const waiting = setTimeout(() => {
      this.late = true;
      this.place.classList.add("waiting");
    }, SLOW);
    this.message.textContent = "";
    try {
      const client = await this.open(request.model);
      const { strings, project } = this.data;
      const { language } = this;
      const shown = { language, strings: strings[language].player, project };
      const opening = { ...this.openingOf(request), ...view };
      const bytes = await client.ask("trace", { request, shown, opening }, (text) => {
        if (turn === this.turn) this.tell(text);
      });
      if (turn !== this.turn) return;
      this.show(readTrace(bytes), request, view, typed);
      if (refused.length) this.message.textContent = this.refusal(refused);
    } catch (error) {
      if (turn !== this.turn) return;
      this.message.textContent = this.sentence(error);
      const same = this.shown?.model === request.model; // whose text may be mended
      this.bar.show({ ...(this.shown ?? request), ...(same ? { text: request.text } : {}) });
    } finally {
      clearTimeout(waiting);
      if (turn === this.turn) {
        this.place.classList.remove("waiting");
        this.tell("");
      }
    }
  }

  /**
   * The models, that one among them.
   * @param {string} name
   */
  async open(name) {
    this.client ??= createModelClient(this.workerSource);
    const known = this.opened.get(name) ?? this.load(this.client, name);
    this.opened.set(name, known);
    try {
      await known;
    } catch (error) {
      this.opened.delete(name);
      throw error;
    }
    return this.client;
  }

  /**
   * @param {ModelClient} client
   * @param {string} name
   */
  async load(client, name) {
    const file = this.data.models.find((model) => model.name === name) ?? this.data.models[0];
    const problem = tooLarge(file);
    if (problem) throw problem;
    const { live } = this.data.strings[this.language];
    const size = (file.bytes / 1e6).toFixed(1);
    const open = (/** @type {Uint8Array<ArrayBuffer>} */ data) =>
      client.ask("open", { name, data, sha256: file.sha256 });
    await openModel(file, open, (share) => {
      this.tell(fillIn(live, "loading", { name, percent: Math.floor(100 * share), size }));
    });
  }

  /** @param {string} text what the page waits for, or what is decoded so far */
  tell(text) {
    if (this.late || !text) this.status.textContent = text;
  }

  /**
   * @param {Trace} trace
   * @param {LiveRequest} request
   * @param {OpeningView} view
   * @param {boolean} typed
   */
  show(trace, request, view, typed) {
    const first = this.shown === null;
    this.shown = request;
    this.bar.show(request);
    this.hint.textContent = this.hintOf(trace, request);
    const inside = {
      held: null,
      fetch: (/** @type {string} */ name) =>
        /** @type {ModelClient} */ (this.client).ask("inside", { request, name }),
    };
    const listeners = this.listeners(request);
    if (this.player) {
      this.player.listen({ ...listeners, inside });
      this.player.update(trace);
    } else {
      const plotly = document.getElementById("plotly") ? embeddedPlotly : servedPlotly;
      this.player = mountPlayer(this.place, trace, { plotly, inside, ...listeners });
    }
    const addressed = readAddress(location.hash, this.data.models, this.languages).request;
    this.writeAddress(view, first || sameRequest(addressed, request)); // as after Back
    if (typed) this.place.querySelector(/** @type {"div"} */ (".player"))?.focus();
  }

  /**
   * What to look at in an example; of another text that it is longer than those of the training.
   * @param {Trace} trace
   * @param {LiveRequest} request
   */
  hintOf({ header }, { model, text: shown }) {
    const { examples, longest } = /** @type {LiveModel} */ (
      this.data.models.find(({ name }) => name === model)
    );
    const example = examples.find(({ text }) => text === shown);
    if (example) return example.hint[this.language];
    const longer = header.content.source.filter(Boolean).length > longest;
    if (!longer) return "";
    return fillIn(this.data.strings[this.language].explore, "note_longer", { most: longest });
  }

  /**
   * What the player reports and asks for.
   * @param {LiveRequest} request
   */
  listeners(request) {
    /** @param {[number, number][]} forced @param {number} step */
    const force = (forced, step) => {
      const player = /** @type {ReturnType<typeof mountPlayer>} */ (this.player); // that asks
      const { site, layer, head, ahead, words } = player.selection();
      this.ask({ ...request, forced }, { site, layer, head, ahead, words, step }, false);
    };
    return {
      onState: (/** @type {Selection} */ selection) => this.writeAddress(selection, true),
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
   * @param {OpeningView | Selection} selection
   * @param {boolean} replace whether Back skips what the address says now
   */
  writeAddress(selection, replace) {
    if (!this.shown) return;
    const fragment = writeAddress(this.shown, selection, this.language);
    if (replace) history.replaceState(null, "", fragment);
    else history.pushState(null, "", fragment);
  }

  /** @param {unknown} error */
  sentence(error) {
    const { live, errors } = this.data.strings[this.language];
    if (error instanceof ModelError && error.key) {
      return fillIn({ ...errors, ...live }, error.key, /** @type {any} */ (error.facts));
    }
    return fillIn(live, "unexpected", {
      problem: String(/** @type {any} */ (error)?.facts?.problem ?? error),
    });
  }

  /** @param {string[]} names of parameters */
  refusal(names) {
    const { explore } = this.data.strings[this.language];
    const parts = names.map((name) => fillIn(explore, `part_${name}`, { longest: 2000 }));
    return fillIn(explore, "link_refused", { parts: parts.join(explore.part_separator) });
  }
}

/**
 * Whether two requests are of the same trace.
 * @param {LiveRequest} one
 * @param {LiveRequest} other
 */
function sameRequest(one, other) {
  return writeAddress(one, {}, "") === writeAddress(other, {}, "");
}

const LANGUAGE = "attention-language";

function storedLanguage() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null; // a page may have no storage
  }
}

/** @param {string} language */
function storeLanguage(language) {
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {
    // it is asked again next time
  }
}

const data = /** @type {PageData} */ (JSON.parse(found("page-data").textContent ?? ""));
if ("ResizeObserver" in window) {
  new LivePage(data, found("worker").textContent ?? "").followAddress();
} else found("not-started").classList.add("at-once"); // an older browser draws no map

if (data.version && location.protocol.startsWith("http") && "serviceWorker" in navigator) {
  navigator.serviceWorker.register(`service-worker.js?${data.version}`).catch(() => {}); // offline is not promised then
}
