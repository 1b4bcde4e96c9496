/**
 * What a lesson tells the player, which is another component of the page: which part of the trace
 * to show, and what to highlight.
 */

import { assign } from "./element.js";

/** @import { ViewOptions } from "./trace.js" */

/** @typedef {Pick<ViewOptions, "site" | "layer" | "head" | "step" | "alignment" | "guess" | "ahead" | "cell" | "inside">} Look */

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
const ANSWERED = "data-lesson-answered";
const OPEN = "data-lesson-open";

/**
 * @typedef {object} OpenQuestion of the text on screen, which nobody has answered yet
 * @property {string} answer what of the trace it asks, as in `lesson_answers.py`
 * @property {string | null} site null = the one on screen
 * @property {number} layer
 * @property {number} head
 * @property {number} query
 * @property {number | null} key null = the one with the largest weight in the row
 */

/**
 * Let the player show a part of its trace.
 * @param {Look} look
 */
export function showLook(look) {
  document.dispatchEvent(new CustomEvent(LOOK, { detail: look }));
}

/**
 * @param {(look: Look) => void} follow
 * @param {AbortSignal} signal
 */
export function onLook(follow, signal) {
  const listen = (/** @type {Event} */ event) =>
    follow(/** @type {CustomEvent<Look>} */ (event).detail);
  document.addEventListener(LOOK, listen, { signal });
}

/** Let the player show no cell, before the server sends it another text. */
export function closeCell() {
  document.dispatchEvent(new CustomEvent(CLOSE));
}

/**
 * @param {() => void} follow
 * @param {AbortSignal} signal
 */
export function onCloseCell(follow, signal) {
  document.addEventListener(CLOSE, follow, { signal });
}

/**
 * Let the player highlight the element with this `data-testid`; "" = none. It may be mounted later.
 * @param {string} name
 */
export function highlight(name) {
  if (name) document.documentElement.setAttribute(ATTRIBUTE, name);
  else document.documentElement.removeAttribute(ATTRIBUTE);
  document.dispatchEvent(new CustomEvent(HIGHLIGHT));
}

/**
 * @param {() => void} follow
 * @param {AbortSignal} signal
 */
export function onHighlight(follow, signal) {
  document.addEventListener(HIGHLIGHT, follow, { signal });
}

/** The `data-testid` of what is to be highlighted; "" = nothing. */
export function highlighted() {
  return document.documentElement.getAttribute(ATTRIBUTE) ?? "";
}

/**
 * Say what of the trace the card asks and nobody has answered yet: until then, no sentence reads the
 * picture. "" for nothing. A number that this or a later card asks is "?".
 * @param {string} asked
 * @param {boolean} [answered] whether the card on screen was answered
 * @param {OpenQuestion[]} [open] of this card and of later ones
 */
export function tellAsking(asked, answered = false, open = []) {
  const { documentElement: page } = document;
  /** @type {[string, string | null][]} */
  const told = [
    [ASKS, asked || null],
    [ANSWERED, answered ? "" : null],
    [OPEN, open.length ? JSON.stringify(open) : null],
  ];
  if (told.every(([name, value]) => page.getAttribute(name) === value)) return;
  for (const [name, value] of told) assign(page, name, value);
  document.dispatchEvent(new CustomEvent(ASKING));
}

/**
 * @param {() => void} follow
 * @param {AbortSignal} signal
 */
export function onAsking(follow, signal) {
  document.addEventListener(ASKING, follow, { signal });
}

/**
 * What this card and later ones ask of the text on screen.
 * @returns {OpenQuestion[]}
 */
export function openQuestions() {
  return JSON.parse(document.documentElement.getAttribute(OPEN) ?? "[]");
}

/** Whether the card on screen was answered. */
export function cardAnswered() {
  return document.documentElement.hasAttribute(ANSWERED);
}

/** Say that the visitor has left the lesson. */
export function tellLeft() {
  document.documentElement.removeAttribute(FOLLOWED);
  document.dispatchEvent(new CustomEvent(LEFT));
}

/**
 * @param {() => void} follow
 * @param {AbortSignal} signal
 */
export function onLeft(follow, signal) {
  document.addEventListener(LEFT, follow, { signal });
}

/** Say that the player shows the token that the card asks for. */
export function tellSeen() {
  document.dispatchEvent(new CustomEvent(SEEN));
}

/**
 * @param {() => void} follow
 * @param {AbortSignal} signal
 */
export function onSeen(follow, signal) {
  document.addEventListener(SEEN, follow, { signal });
}

/** What of the trace a card asks and nobody has answered yet; "" for nothing. */
export function asking() {
  return document.documentElement.getAttribute(ASKS) ?? "";
}

/**
 * Say whether the player has moved on from what the card shows.
 * @param {boolean} away
 */
export function reportAway(away) {
  document.dispatchEvent(new CustomEvent(AWAY, { detail: away }));
}

/**
 * @param {(away: boolean) => void} follow
 * @param {AbortSignal} signal
 */
export function onAway(follow, signal) {
  const listen = (/** @type {Event} */ event) =>
    follow(/** @type {CustomEvent<boolean>} */ (event).detail);
  document.addEventListener(AWAY, listen, { signal });
}
