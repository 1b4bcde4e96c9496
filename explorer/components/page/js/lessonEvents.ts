/**
 * What a lesson tells the player, which is another component of the page: which part of the trace
 * to show, and what to highlight.
 */

import type { ViewOptions } from "../../trace/js/trace.ts";

export type Look = Pick<
  ViewOptions,
  "site" | "layer" | "head" | "step" | "alignment" | "guess" | "ahead" | "cell" | "inside"
>;

const LOOK = "attention-look";
const CLOSE = "attention-close-cell";
const HIGHLIGHT = "attention-highlight";
const AWAY = "attention-away";
const ASKING = "attention-asking";
const SEEN = "attention-seen";
const LEFT = "attention-lesson-left";
/** On the page while it has the card of a lesson. */
export const FOLLOWED = "data-lesson";

/** The answer of a card that asks what the model writes next, as in `lesson_answers.py`. */
export const NEXT_TOKEN = "predicted token";

/** In the place of a number that a card asks. */
export const ASKED = "?";

const ATTRIBUTE = "data-highlight";
const ASKS = "data-lesson-asks";

/** Of the text on screen, which nobody has answered yet. */
export interface OpenQuestion {
  answer: string; // what of the trace it asks, as in `lesson_answers.py`
  site: string | null; // null = the one on screen
  layer: number;
  head: number;
  query: number;
  key: number | null; // null = the one with the largest weight in the row
}

/** What a lesson asks. */
export interface Asked {
  answer: string; // what of the trace its card asks and nobody has answered yet; "" for nothing
  answered: boolean; // whether the card was answered
  open: OpenQuestion[]; // of this card and of later ones: their numbers are "?"
}

const NOTHING: Asked = { answer: "", answered: false, open: [] };

/** Let the player show a part of its trace. */
export function showLook(look: Look) {
  document.dispatchEvent(new CustomEvent(LOOK, { detail: look }));
}

export function onLook(follow: (look: Look) => void, signal: AbortSignal) {
  const listen = (event: Event) => follow((event as CustomEvent<Look>).detail);
  document.addEventListener(LOOK, listen, { signal });
}

/** Let the player show no cell, before the server sends it another text. */
export function closeCell() {
  document.dispatchEvent(new CustomEvent(CLOSE));
}

export function onCloseCell(follow: () => void, signal: AbortSignal) {
  document.addEventListener(CLOSE, follow, { signal });
}

/**
 * Let the player highlight the element with this `data-testid`; "" = none. It may be mounted later.
 */
export function highlight(name: string) {
  if (name) document.documentElement.setAttribute(ATTRIBUTE, name);
  else document.documentElement.removeAttribute(ATTRIBUTE);
  document.dispatchEvent(new CustomEvent(HIGHLIGHT));
}

export function onHighlight(follow: () => void, signal: AbortSignal) {
  document.addEventListener(HIGHLIGHT, follow, { signal });
}

/** The `data-testid` of what is to be highlighted; "" = nothing. */
export function highlighted() {
  return document.documentElement.getAttribute(ATTRIBUTE) ?? "";
}

/** Say what the lesson asks: until it is answered, no sentence reads the picture. */
export function tellAsking(asked: Asked = NOTHING) {
  const { documentElement: page } = document;
  const text = JSON.stringify(asked);
  if (text === (page.getAttribute(ASKS) ?? JSON.stringify(NOTHING))) return;
  page.setAttribute(ASKS, text);
  document.dispatchEvent(new CustomEvent(ASKING));
}

/** What the lesson on the page asks: its card and the player are drawn by scripts apart. */
export function lessonAsks(): Asked {
  return JSON.parse(document.documentElement.getAttribute(ASKS) ?? JSON.stringify(NOTHING));
}

export function onAsking(follow: () => void, signal: AbortSignal) {
  document.addEventListener(ASKING, follow, { signal });
}

/** Say that the visitor has left the lesson. */
export function tellLeft() {
  document.documentElement.removeAttribute(FOLLOWED);
  document.dispatchEvent(new CustomEvent(LEFT));
}

export function onLeft(follow: () => void, signal: AbortSignal) {
  document.addEventListener(LEFT, follow, { signal });
}

/** Say that the player shows the token that the card asks for. */
export function tellSeen() {
  document.dispatchEvent(new CustomEvent(SEEN));
}

export function onSeen(follow: () => void, signal: AbortSignal) {
  document.addEventListener(SEEN, follow, { signal });
}

/** Say whether the player has moved on from what the card shows. */
export function reportAway(away: boolean) {
  document.dispatchEvent(new CustomEvent(AWAY, { detail: away }));
}

export function onAway(follow: (away: boolean) => void, signal: AbortSignal) {
  const listen = (event: Event) => follow((event as CustomEvent<boolean>).detail);
  document.addEventListener(AWAY, listen, { signal });
}
