/**
 * What a lesson tells the player, which is another component of the page: which part of the trace
 * to show, and what to highlight.
 */

import { assign } from "../../dom/js/element.ts";
import type { ViewOptions } from "../../trace/js/trace.ts";
import { channel } from "./channel.ts";

export type Look = Pick<
  ViewOptions,
  "site" | "layer" | "head" | "step" | "alignment" | "guess" | "ahead" | "cell" | "inside"
>;

const ASKING = "attention-asking";
/** On the page while it has the card of a lesson. */
export const FOLLOWED = "data-lesson";

/** The answer of a card that asks what the model writes next, as in `lesson_answers.py`. */
export const NEXT_TOKEN = "predicted token";

/** In the place of a number that a card asks. */
export const ASKED = "?";

const ATTRIBUTE = "data-highlight";
const ASKS = "data-lesson-asks";
const ANSWERED = "data-lesson-answered";
const OPEN = "data-lesson-open";

/** Of the text on screen, which nobody has answered yet. */
export interface OpenQuestion {
  answer: string; // what of the trace it asks, as in `lesson_answers.py`
  site: string | null; // null = the one on screen
  layer: number;
  head: number;
  query: number;
  key: number | null; // null = the one with the largest weight in the row
}

/** Let the player show a part of its trace. */
export const { tell: showLook, hear: onLook } = channel<Look>("attention-look");

/** Let the player show no cell, before the server sends it another text. */
export const { tell: closeCell, hear: onCloseCell } = channel("attention-close-cell");

/** Say that the player shows the token that the card asks for. */
export const { tell: tellSeen, hear: onSeen } = channel("attention-seen");

/** Say whether the player has moved on from what the card shows. */
export const { tell: reportAway, hear: onAway } = channel<boolean>("attention-away");

const left = channel("attention-lesson-left");
export const onLeft = left.hear;

/** Say that the visitor has left the lesson. */
export function tellLeft() {
  document.documentElement.removeAttribute(FOLLOWED);
  left.tell();
}

const highlighting = channel("attention-highlight");
export const onHighlight = highlighting.hear;

/**
 * Let the player highlight the element with this `data-testid`; "" = none. It may be mounted later.
 */
export function highlight(name: string) {
  if (name) document.documentElement.setAttribute(ATTRIBUTE, name);
  else document.documentElement.removeAttribute(ATTRIBUTE);
  highlighting.tell();
}

/** The `data-testid` of what is to be highlighted; "" = nothing. */
export function highlighted() {
  return document.documentElement.getAttribute(ATTRIBUTE) ?? "";
}

/**
 * Say what of the trace the card asks and nobody has answered yet: until then, no sentence reads the
 * picture. "" for nothing. A number that this or a later card asks is "?".
 * @param answered whether the card on screen was answered
 * @param open of this card and of later ones
 */
export function tellAsking(asked: string, answered = false, open: OpenQuestion[] = []) {
  const { documentElement: page } = document;
  const told: [string, string | null][] = [
    [ASKS, asked || null],
    [ANSWERED, answered ? "" : null],
    [OPEN, open.length ? JSON.stringify(open) : null],
  ];
  if (told.every(([name, value]) => page.getAttribute(name) === value)) return;
  for (const [name, value] of told) assign(page, name, value);
  document.dispatchEvent(new CustomEvent(ASKING));
}

export function onAsking(follow: () => void, signal: AbortSignal) {
  document.addEventListener(ASKING, follow, { signal });
}

/** What this card and later ones ask of the text on screen. */
export function openQuestions(): OpenQuestion[] {
  return JSON.parse(document.documentElement.getAttribute(OPEN) ?? "[]");
}

/** Whether the card on screen was answered. */
export function cardAnswered() {
  return document.documentElement.hasAttribute(ANSWERED);
}

/** What of the trace a card asks and nobody has answered yet; "" for nothing. */
export function asking() {
  return document.documentElement.getAttribute(ASKS) ?? "";
}
