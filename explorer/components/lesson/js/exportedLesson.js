import { bytesOf } from "../../player/js/pageHeads.js";
import { mountFromPage } from "../../player/js/pagePlayer.js";
import { readContent } from "./content.js";
import { mountLesson } from "./lesson.js";

/** @import { Content, Lesson } from "./content.js" */

/**
 * An element that the page has.
 * @param {string} selector
 */
function found(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

const sent = readContent(await bytesOf(found("#lesson-payload")));
const whole = /** @type {Lesson} */ (sent.lesson);
const texts = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-cards]")]);

/**
 * The part of the page with the text that a card speaks of.
 * @param {number} card
 */
function textOf(card) {
  return texts.find((text) => text.dataset.cards?.split(" ").includes(String(card)));
}

/**
 * What the card is told where the app's server would: which card to show, and which others are of
 * the text on screen.
 * @param {number} card
 * @param {number} visit
 * @returns {Content}
 */
function contentAt(card, visit) {
  const cards = whole.cards.map((one, index) => one && { ...one, here: textOf(index) === shown });
  return { ...sent, lesson: { ...whole, cards, card, visit } };
}

/** @type {HTMLElement | undefined} */
let shown;
/** @type {Awaited<ReturnType<typeof mountFromPage>> | undefined} */
let player;
let visits = 0;
let turn = Promise.resolve(); // one card after the other

/**
 * Replace the player by one of the text that a card speaks of; without a text it stays.
 * @param {number} card
 */
async function showText(card) {
  const text = textOf(card);
  if (!text || text === shown) return;
  const payload = /** @type {HTMLElement} */ (text.querySelector("[data-payload]"));
  player?.destroy();
  shown = text;
  player = await mountFromPage(
    found("#player"),
    text,
    payload,
    whole.cards[card]?.look ?? undefined,
  );
}

const root = found("#lesson").attachShadow({ mode: "open" }); // the styles of both stay apart
const parts = /** @type {HTMLTemplateElement} */ (found("#lesson-parts"));
root.append(parts.content);
await showText(0);
const lesson = mountLesson(root, contentAt(0, visits), {
  onCard: (card, here) => {
    if (!here) turn = turn.then(() => goTo(card));
  },
  onStart: (name) => location.assign(`${encodeURIComponent(name)}.${sent.language}.html`),
  onLeave: sent.back ? () => location.assign(sent.back ?? "") : undefined,
});

/**
 * Show a card of another text.
 * @param {number} card
 */
async function goTo(card) {
  await showText(card);
  visits += 1;
  lesson.update(contentAt(card, visits));
}
