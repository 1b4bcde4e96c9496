import { assign, element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import { createBallot } from "./ballot.ts";
import type { ClassView, Message } from "./classroom.ts";
import { createStream, send, takeTab } from "./stream.ts";

/**
 * none: nobody leads; away: who led is
 * gone for the moment
 */
export type Following = "none" | "away" | "alone" | "following";

/** What a guest's page does. */
export interface GuestPage {
  follow: (view: ClassView | null) => void; // show what the host shows; null = no longer
  open: () => void; // what the address asks for, or what opens first
  leave: () => void; // show the player of the trace on screen, with which a guest explores
}

const ALONE = "explorer-alone"; // in the session's storage: a reload stays where the guest was
const RETURNS = "class"; // in the address: a link of another page back to the class
const VOTES = "data-class-votes"; // on the page: it shows an open question and nothing else
const STATE = "data-class-state"; // on the page
const BELOW = "data-class-below"; // on the page: on a phone, the inputs are below the picture
const PICTURE = "#player"; // of the page
const TOUCHED = `${PICTURE}, .input-row, nav a`;
const PATIENCE = 2000; // ms for the first message; without it the page opens as without a class
const MOVES = new Set(["ArrowLeft", "ArrowRight", "Home", "End", " ", "g", "i"]); // keys of the player

/**
 * Whether a guest follows the host.
 * @param alone whether the guest has left the host's view
 */
export function followingOf(
  message: Pick<Message, "host" | "view" | "away"> | null,
  alone: boolean,
): Following {
  if (!message?.view || message.host) return "none";
  if (message.away) return "away";
  return alone ? "alone" : "following";
}

/** A guest of a class: follows the host until a touch, and back with one button. */
export class Guest {
  page: GuestPage;
  message: Message | null;
  alone: boolean;
  opened: boolean;
  lost: boolean;
  below: boolean;
  followed: string;
  draw: () => void;

  constructor(page: GuestPage) {
    this.page = page;
    this.message = null;
    if (new URLSearchParams(location.hash.slice(1)).has(RETURNS)) store(ALONE, null, ofTab);
    this.alone = stored(ALONE, ofTab) !== null;
    this.opened = false; // something was asked for
    this.lost = false; // the server is not heard
    this.below = false; // on a phone, the inputs are below the picture
    this.followed = "null"; // the view that the page shows, as a text
    this.draw = () => {};
    const tab = takeTab();
    window.addEventListener("pagehide", () => tab.keep(""));
    createStream(
      tab.word,
      (message) => this.take(message),
      () => this.lose(),
    );
    setTimeout(() => this.open(), PATIENCE);
    for (const name of ["click", "input", "change"])
      document.addEventListener(name, (event) => this.hear(event), { capture: true });
    document.addEventListener("keydown", (event) => this.hearKey(event), { capture: true });
  }

  get state() {
    return followingOf(this.message, this.alone);
  }

  /** The server is not heard any more; what it said last stays on screen. */
  lose() {
    this.lost = true;
    this.draw();
  }

  take(message: Message) {
    this.message = message;
    this.lost = false;
    this.show();
    this.open();
  }

  /** What the address asks for, unless the host's view was shown. */
  open() {
    if (!this.opened) this.page.open();
    this.opened = true;
  }

  show() {
    const view = this.state === "following" ? (this.message?.view ?? null) : null;
    if (view) this.opened = true;
    const followed = view && [view.query, view.shown, view.trace, view.picture, view.training];
    const word = JSON.stringify(followed);
    if (word !== this.followed) this.page.follow(view);
    this.followed = word;
    this.draw();
  }

  explore(alone: boolean) {
    this.alone = alone;
    store(ALONE, alone ? "1" : null, ofTab);
    this.show();
  }

  /** The guest's button: leave the host's view, or come back to it. */
  change() {
    this.below = false;
    this.explore(!this.alone);
    if (this.alone) this.page.leave();
  }

  /**
   * What a guest changes is no longer the host's; an open question covers it all. A picture that is
   * touched stays where it is.
   * @param picture whether the touch is one of the picture
   */
  touch(picture = false) {
    if (this.state !== "following" || this.message?.question?.answer === null) return;
    this.below = picture;
    this.explore(true);
  }

  /**
   * A touch of the picture or the inputs leaves the host's view before they hear of it. One that
   * scrolls is none.
   */
  hear({ target }: Event) {
    if (!(target instanceof Element) || !target.closest(TOUCHED)) return;
    this.touch(target.closest(PICTURE) !== null);
  }

  /** So does a key that moves the player, unless the element with the focus uses it. */
  hearKey({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) {
    const uses = key === " " ? "button, a, summary, select, input" : "select, input";
    const used = target instanceof Element && target.closest(uses) !== null;
    const within = target instanceof Element && target.closest(TOUCHED) !== null;
    const held = ctrlKey || metaKey || altKey;
    const player = !this.message?.view?.training; // else the keys are those of the training
    if (player && MOVES.has(key) && !held && (within || !used)) this.touch(true);
  }

  /** Which sentence the line has. */
  said() {
    const { message, state } = this;
    if (this.lost) return "lost";
    if (state === "alone" && message?.question?.answer === null) return "alone_votes";
    return state === "following" && message?.view?.paused ? "host_elsewhere" : state;
  }

  /** @returns which is drawn at each change */
  build(say: Say): HTMLElement {
    const status = element("span", { role: "status", testid: "class-status" });
    const change = element("button", {
      type: "button",
      testid: "class-explore",
      on: { click: () => this.change() },
    });
    const norms = element("span", { class: "norms", testid: "class-norms" }, say("host_norms"));
    const line = element("div", { class: "line" }, status, change, norms);
    const ballot = createBallot({
      vote: (number, choice) => send("vote", { number, choice }),
      say,
    });
    const card = createCard(say);
    const node = element(
      "div",
      { class: "player class-guest", testid: "class" },
      line,
      ballot.element,
      card.element,
    );
    this.draw = () => {
      const { message, state } = this;
      const present = state !== "alone" && !message?.host;
      const asked = present && message?.question ? message : null;
      line.hidden = state === "none";
      change.hidden = state === "away";
      write(change, say(state === "alone" ? "follow" : "explore_alone"));
      norms.hidden = state !== "following" || message?.view?.picture !== "norms";
      write(status, line.hidden ? "" : say(this.said(), { count: message?.present ?? 0 }));
      ballot.update(asked);
      card.update(state === "following" ? (message?.view ?? null) : null);
      node.hidden = line.hidden && !asked;
      if (state === "following") this.below = true;
      assign(document.documentElement, STATE, state);
      document.documentElement.toggleAttribute(BELOW, this.below);
      document.documentElement.toggleAttribute(VOTES, asked?.question?.answer === null);
    };
    this.draw();
    return node;
  }
}

/** The card of the lesson that the host goes through. */
function createCard(say: Say) {
  const title = element("h2", { testid: "lesson-title" });
  const place = element("span", { class: "place", testid: "lesson-progress" });
  const text = element("p", { testid: "lesson-text" });
  const because = element("p", { class: "because", testid: "lesson-answer" });
  const node = element(
    "section",
    { class: "card", testid: "class-card" },
    element("div", { class: "heading" }, title, place),
    text,
    because,
  );
  const update = (view: ClassView | null) => {
    const card = view?.card;
    node.hidden = !card;
    if (!card) return;
    write(title, card.title);
    write(place, say("card_place", { card: card.number, cards: card.cards }));
    write(text, card.text);
    write(because, card.because);
    because.hidden = card.because === "";
  };
  return { element: node, update };
}
