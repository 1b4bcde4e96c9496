import {
  assign,
  buttonElement,
  element,
  type Part,
  phasesOf,
  write,
} from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import { moveOf } from "../../page/js/keyboard.ts";
import { projectorChosen } from "../../page/js/projector.ts";
import { createBallot } from "./ballot.ts";
import type { ClassView, Message } from "./classroom.ts";
import { askedOf, type Following, followingOf } from "./following.ts";
import { createStream, send, takeTab } from "./stream.ts";

/** What a guest's page does. */
interface GuestPage {
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
const SHORTCUTS = ["g", "i"]; // of the player

/** What a guest's page knows of the class. */
interface GuestState {
  message: Message | null;
  alone: boolean; // whether the guest has left the host's view
  lost: boolean; // whether the server is not heard; what it said last stays on screen
  below: boolean; // whether, on a phone, the inputs are below the picture
}

export type Guest = ReturnType<typeof createGuest>;

/** This tab begins apart from the host's view, with a model of the guest's own. */
export function beginAlone() {
  store(ALONE, "1", ofTab);
}

/** A guest of a class: follows the host until a touch, and back with one button. */
export function createGuest(page: GuestPage) {
  if (new URLSearchParams(location.hash.slice(1)).has(RETURNS)) store(ALONE, null, ofTab);
  const alone = stored(ALONE, ofTab) !== null;
  const { values: state, set } = createStore<GuestState>({
    ...{ message: null, alone, lost: false, below: false },
  });
  const screen = createScreen();
  const shown = createShown(page);
  const following = () => followingOf(state.message, state.alone);
  const show = () => {
    const view = following() === "following" ? (state.message?.view ?? null) : null;
    if (view) set({ below: true });
    shown.follow(view);
  };
  const explore = (alone: boolean) => {
    set({ alone });
    store(ALONE, alone ? "1" : null, ofTab);
    show();
  };
  /** The guest's button: leave the host's view, or come back to it. */
  const change = () => {
    set({ below: false });
    explore(!state.alone);
    if (state.alone) page.leave();
  };
  /**
   * What a guest changes is no longer the host's; an open question covers it all. A picture that is
   * touched stays where it is.
   * @param picture whether the touch is one of the picture
   */
  const touch = (picture = false) => {
    if (following() !== "following" || state.message?.question?.answer === null) return;
    set({ below: picture });
    explore(true);
  };
  const tab = takeTab();
  window.addEventListener("pagehide", () => tab.keep(""));
  const take = (message: Message) => {
    set({ message, lost: false });
    show();
    shown.open();
  };
  createStream(tab.word, take, () => set({ lost: true }));
  setTimeout(shown.open, PATIENCE);
  listenToTouches(() => state.message, touch);
  /** @returns the line above the player, in a language */
  const build = (say: Say): HTMLElement => {
    const bar = createBar(state, say, change);
    screen.show(phasesOf([bar]));
    screen.flush();
    return bar.element;
  };
  return { following, touch, build };
}

/** What the page shows: what its address asks for, until the host's view is followed. */
function createShown(page: GuestPage) {
  let opened = false; // something was asked for
  let followed = "null"; // the view that the page shows, as a text
  const open = () => {
    if (!opened) page.open();
    opened = true;
  };
  /** @param view of the host; null = no longer */
  const follow = (view: ClassView | null) => {
    if (view) opened = true;
    const parts = view && [view.query, view.guess, view.trace, view.picture, view.training];
    const word = JSON.stringify(parts);
    if (word !== followed) page.follow(view);
    followed = word;
  };
  return { open, follow };
}

/** All that a guest sees above the player. */
function createBar(state: Readonly<GuestState>, say: Say, change: () => void): Part {
  const parts = [
    createLine(state, say, change),
    createBallot({ state, vote: (number, choice) => send("vote", { number, choice }), say }),
    createCard(state, say),
  ];
  const looks = { class: "player class-guest", testid: "class" };
  const node = element("div", looks, ...parts.map((part) => part.element));
  const mark = () => {
    const following = followingOf(state.message, state.alone);
    node.hidden = following === "none" && !askedOf(state);
    assign(document.documentElement, STATE, following);
    document.documentElement.toggleAttribute(BELOW, state.below);
    document.documentElement.toggleAttribute(VOTES, askedOf(state)?.answer === null);
  };
  return { element: node, ...phasesOf([...parts, { views: [mark] }]) };
}

/**
 * A touch of the picture or the inputs leaves the host's view before they hear of it; one that scrolls
 * is none. So does a key that moves the player, unless the element with the focus uses it.
 */
function listenToTouches(message: () => Message | null, touch: (picture: boolean) => void) {
  const hear = ({ target }: Event) => {
    if (!(target instanceof Element) || !target.closest(TOUCHED)) return;
    touch(target.closest(PICTURE) !== null);
  };
  const hearKey = (event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const picture = document.querySelector(PICTURE);
    const moves = SHORTCUTS.includes(key) || (picture && moveOf(event, picture, projectorChosen()));
    const uses = key === " " ? "button, a, summary, select, input" : "select, input";
    const used = target instanceof Element && target.closest(uses) !== null;
    const within = target instanceof Element && target.closest(TOUCHED) !== null;
    const held = ctrlKey || metaKey || altKey;
    const player = !message()?.view?.training; // else the keys are those of the training
    if (player && moves && !held && (within || !used)) touch(true);
  };
  for (const name of ["click", "input", "change"])
    document.addEventListener(name, hear, { capture: true });
  document.addEventListener("keydown", hearKey, { capture: true });
}

/** Whom the guest follows, and the way out of it and back. */
function createLine(state: Readonly<GuestState>, say: Say, change: () => void): Part {
  const status = element("span", { role: "status", testid: "class-status" });
  const button = buttonElement(change, { testid: "class-explore" });
  const node = element("div", { class: "line" }, status, button);
  const draw = () => {
    const { message, alone, lost } = state;
    const following = followingOf(message, alone);
    node.hidden = following === "none";
    button.hidden = following === "away";
    write(button, say(following === "alone" ? "follow" : "explore_alone"));
    const said = lost ? "lost" : sentenceOf(message, following);
    write(status, node.hidden ? "" : say(said, { count: message?.present ?? 0 }));
  };
  return { element: node, views: [draw] };
}

function sentenceOf(message: Message | null, following: Following) {
  if (following === "alone" && message?.question?.answer === null) return "alone_votes";
  return following === "following" && message?.view?.paused ? "host_elsewhere" : following;
}

/** The card of the lesson that the host goes through. */
function createCard(state: Readonly<GuestState>, say: Say): Part {
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
  const draw = () => {
    const { message, alone } = state;
    const card = followingOf(message, alone) === "following" ? message?.view?.card : null;
    node.hidden = !card;
    if (!card) return;
    write(title, card.title);
    write(place, say("card_place", { card: card.number, cards: card.cards }));
    write(text, card.text);
    write(because, card.because);
    because.hidden = card.because === "";
  };
  return { element: node, views: [draw] };
}
