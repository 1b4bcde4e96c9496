/**
 * A page on which the browser itself decodes: input, messages and the player. Its models are in a
 * worker, its address is a link to what is on screen.
 */

import { createGuest, type Guest } from "../../classroom/js/guest.ts";
import { element } from "../../dom/js/element.ts";
import { fillIn, type Say, type Strings } from "../../dom/js/sentences.ts";
import { store, stored } from "../../page/js/browserStorage.ts";
import { frameShown } from "../../page/js/frame.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { flagsOf } from "../../trace/js/initialState.ts";
import type { Selection } from "../../trace/js/look.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import { readAddress, sameRequest, writeAddress } from "./address.ts";
import { createHeader } from "./header.ts";
import { HostFollower } from "./hostFollower.ts";
import { HostTraining } from "./hostTraining.ts";
import { wordOf } from "./hostView.ts";
import { type InitialView, missingIn, viewWithout } from "./initialView.ts";
import { createInputBar, type InputBar } from "./inputBar.ts";
import { offerInstallation } from "./installation.ts";
import { nearestLanguage, type PageLanguage } from "./languages.ts";
import { initialRequest, type LiveModel } from "./liveModel.ts";
import { Messages } from "./messages.ts";
import type { ModelClient } from "./modelClient.ts";
import { ModelLoader } from "./modelLoader.ts";
import type { LiveRequest, Questions } from "./modelWorker.ts";
import { followLast, putAddress } from "./pageHistory.ts";
import { playerListeners } from "./playerListeners.ts";
import { TracePicture } from "./tracePicture.ts";
import { TraceQueue } from "./traceQueue.ts";

/** What `explorer/components/live/page.py` writes. */
export interface PageData {
  project: string; // name and version
  languages: Record<string, PageLanguage>; // by code
  models: LiveModel[];
  /** by language */
  strings: Record<
    string,
    Record<
      "live" | "explore" | "errors" | "player" | "training_replay" | "class_tools" | "heads",
      Strings
    >
  >;
  opening: { text: string; pad: number } | null; // of a page with one text
  site: boolean; // whether lessons and a recorded training lie beside this page
  lessons: { name: string; title: Record<string, string> }[];
}

export interface Asked {
  request: LiveRequest;
  view: InitialView; // where not as the model opens
  typed?: boolean; // whether it was sent from the text box
  refused?: string[]; // parameters of a link that could not be followed
  problem?: string; // a sentence on the text that this one stands for
  key?: string; // of the trace of a host, which is shown in the place of the request's
}

/** Whether the server of a class has sent this page to a guest. */
const IN_CLASS = document.documentElement.hasAttribute("data-class");

const LANGUAGE = "attention-language"; // in the browser's storage
const TYPED_ON = 700; // ms in which somebody who types on has not seen yet that a text is shown

function found(id: string) {
  return document.getElementById(id) as HTMLElement;
}

export class LivePage {
  data: PageData;
  models: ModelLoader;
  languages: string[];
  language: string;
  turn: number;
  asked: Asked; // the latest request, which a control changes, on screen or not yet
  unopened: Set<string>; // models whose files could not be opened, until something is on screen
  traces: TraceQueue;
  shown: LiveRequest | null; // on screen
  focused: number;
  place: HTMLElement;
  picture: TracePicture;
  messages: Messages;
  host: HostFollower;
  guest: Guest | null;
  bar: InputBar;

  constructor(data: PageData, workerSource: string) {
    this.data = data;
    followLast();
    this.models = new ModelLoader(data.models, workerSource, () => this.messages.tell());
    this.languages = Object.keys(data.languages);
    this.language = this.chosenLanguage();
    this.turn = 0; // of the latest request; an answer to an earlier one is not shown
    this.asked = { request: initialRequest(data.models[0]), view: {} };
    this.unopened = new Set();
    this.traces = new TraceQueue();
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
    this.guest = IN_CLASS ? createGuest(guest) : null;
    this.bar = this.build();
    this.place.addEventListener("keydown", (event) => this.typeOn(event), { capture: true });
    window.addEventListener("hashchange", () => {
      this.guest?.touch();
      if (this.guest?.following() !== "following") this.followAddress(); // else an open vote covers it
    });
  }

  /** Draw everything but the player, which draws itself, in the language. */
  build() {
    document.documentElement.lang = this.data.languages[this.language].tag;
    const { live, explore, class_tools } = this.data.strings[this.language];
    const say: Say = (key, facts) => fillIn({ ...live, ...explore }, key, facts);
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

  speak(language: string) {
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

  modelOf({ model }: LiveRequest) {
    return this.data.models.find(({ name }) => name === model) as LiveModel;
  }

  /** Trace a text and show it; what was asked before is not waited for any longer. */
  async ask(asked: Asked) {
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

  /** Check the trace on screen, once it is there: the checks take passes of their own. */
  async checkShown(client: ModelClient, request: LiveRequest) {
    await frameShown();
    if (request !== this.shown) return;
    try {
      const checks = await client.ask("integrity", { request });
      if (request === this.shown) this.picture.check(checks);
    } catch (error) {
      this.messages.say(this.messages.sentence(error, request));
    }
  }

  question({ request, view }: Asked): Questions["trace"] {
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
   * @param request with it
   */
  async edited(request: LiveRequest) {
    this.messages.unread = null;
    this.messages.say();
    if (request.model !== this.shown?.model) return; // not open yet
    const client = await this.models.open(request.model);
    this.traces.traceAhead(client, this.question({ request, view: this.keptView() }));
  }

  /**
   * Say why a text is not shown, and leave it in its box. A model that was chosen opens with another
   * one; else the picture stays, or that of another model comes where there is none.
   * @param open whether its model is
   */
  refuse({ request, refused, problem: before }: Asked, error: unknown, open: boolean) {
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

  show(trace: Trace, { request, view, typed, refused }: Asked, client: ModelClient) {
    const first = this.shown === null;
    this.shown = request;
    const { host, messages } = this;
    messages.hint.textContent = messages.unread ? "" : messages.hintOf(trace, request);
    const resources = {
      held: null,
      fetch: (name: string, place: string) => client.ask("resource", { request, name, place }),
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
    this.place.querySelector(".player" as "div")?.focus({ preventScroll: true });
    this.focused = performance.now();
  }

  /**
   * Letters that follow a sent text at once are meant for its box, not for the shortcuts of the
   * player, which has the focus.
   */
  typeOn(event: KeyboardEvent) {
    const { key, ctrlKey, metaKey, altKey } = event;
    const letter = key.length === 1 && !ctrlKey && !metaKey && !altKey;
    if (!letter || performance.now() - this.focused > TYPED_ON) return;
    event.stopPropagation();
    this.bar.focus(); // which receives the letter
  }

  /** @param replace whether Back skips what the address says now */
  writeAddress(selection: InitialView | Selection, replace: boolean) {
    if (!this.shown) return;
    putAddress(writeAddress(this.shown, selection, this.language), replace);
  }
}

const data = JSON.parse(found("page-data").textContent ?? "") as PageData;
if ("ResizeObserver" in window) {
  const page = new LivePage(data, found("worker").textContent ?? "");
  if (!IN_CLASS) page.followAddress();
} else found("not-started").classList.add("at-once"); // an older browser draws no map

if (data.site && !IN_CLASS) offerInstallation();
