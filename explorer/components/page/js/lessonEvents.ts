/**
 * What a lesson tells the player, which is another component of the page: which part of the trace
 * to show, and what to highlight.
 */

import type { ViewOptions } from "../../trace/js/trace.ts";
import { channel } from "./channel.ts";

export type Look = Pick<
  ViewOptions,
  "site" | "layer" | "head" | "step" | "alignment" | "guess" | "ahead" | "cell" | "inside"
>;

/** What a card shows of a training. */
export interface TrainingLook extends Pick<Look, "site" | "layer" | "head" | "step"> {
  run: string; // root and name
  moment: number; // its step of the training
}

const FOLLOWED = "data-lesson"; // on the page while it has the card of a lesson

export function isInLesson() {
  return typeof document !== "undefined" && document.documentElement.hasAttribute(FOLLOWED);
}

/** The answer of a card that asks what the model writes next, as in `lesson_answers.py`. */
export const NEXT_TOKEN = "predicted token";

/** In the place of a number that a card asks. */
export const ASKED = "?";

const MOMENT = "data-lesson-moment";
const ATTRIBUTE = "data-highlight";
const ASKS = "data-lesson-asks";

/** A question about the text on screen that nobody has answered yet. */
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
export const { tell: showLook, hear: onLook } = channel<Look>("attention-look");

const training = channel("attention-training-look");
export const onTrainingLook = training.hear;

/** Let the replay of a training, which may be mounted later, show a moment; null = any. */
export function showMoment(look: TrainingLook | null) {
  if (look) document.documentElement.setAttribute(MOMENT, JSON.stringify(look));
  else document.documentElement.removeAttribute(MOMENT);
  training.tell();
}

/** The moment that a card shows; null without such a card. */
export function shownMoment(): TrainingLook | null {
  return JSON.parse(document.documentElement.getAttribute(MOMENT) ?? "null");
}

/** Let the player show no cell, before the server sends it another text. */
export const { tell: closeCell, hear: onCloseCell } = channel("attention-close-cell");

/** Say that the player shows the token that the card asks for. */
export const { tell: tellSeen, hear: onSeen } = channel("attention-seen");

/** Say whether the player has moved on from what the card shows. */
export const { tell: reportAway, hear: onAway } = channel<boolean>("attention-away");

const begun = channel("attention-lesson-begun");
export const onBegun = begun.hear;

/** Say that the page has the card of a lesson. */
export function tellBegun() {
  document.documentElement.setAttribute(FOLLOWED, "");
  begun.tell();
}

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

const asks = channel("attention-asking");
export const onAsking = asks.hear;

/** Say what the lesson asks: until it is answered, no sentence reads the picture. */
export function tellAsking(asked: Asked = NOTHING) {
  const { documentElement: page } = document;
  const text = JSON.stringify(asked);
  if (text === (page.getAttribute(ASKS) ?? JSON.stringify(NOTHING))) return;
  page.setAttribute(ASKS, text);
  asks.tell();
}

/** What the lesson on the page asks: its card and the player are drawn by scripts apart. */
export function lessonAsks(): Asked {
  return JSON.parse(document.documentElement.getAttribute(ASKS) ?? JSON.stringify(NOTHING));
}
