import { mountFromPage } from "../../player/js/pagePlayer.js";
import { bytesOf } from "../../player/js/pageResources.js";
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

/**
 * The card that the address names from 1, as an index; the first one where it names none.
 * @param {Lesson} lesson
 */
function cardInAddress(lesson) {
  const named = Number(new URLSearchParams(location.hash.slice(1)).get("card"));
  return lesson.cards[named - 1] === undefined ? 0 : named - 1;
}

/** The players of a lesson's texts, one at a time. */
class Texts {
  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.cards = lesson.cards;
    this.parts = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-cards]")]);
    /** @type {HTMLElement | undefined} */
    this.shown = undefined;
    /** @type {Awaited<ReturnType<typeof mountFromPage>> | undefined} */
    this.player = undefined;
  }

  /**
   * The part of the page with the text that a card speaks of.
   * @param {number} card
   */
  partOf(card) {
    return this.parts.find((part) => part.dataset.cards?.split(" ").includes(String(card)));
  }

  /**
   * Replace the player by one of the text that a card speaks of; without a text it stays.
   * @param {number} card
   */
  async show(card) {
    const part = this.partOf(card);
    if (!part || part === this.shown) return;
    const payload = /** @type {HTMLElement} */ (part.querySelector("[data-payload]"));
    const look = this.cards[card]?.look ?? undefined;
    this.player?.destroy();
    this.shown = part;
    this.player = await mountFromPage(found("#player"), part, payload, look);
  }
}

/** @param {Content} sent with all cards of the lesson */
async function showLesson(sent) {
  const whole = /** @type {Lesson} */ (sent.lesson);
  const texts = new Texts(whole);
  let visits = 0;
  let turn = Promise.resolve(); // one card after the other

  /**
   * What the card is told where the app's server would: which card to show, and which others are of
   * the text on screen.
   * @param {number} card
   * @returns {Content}
   */
  const contentAt = (card) => {
    const here = (/** @type {number} */ index) => texts.partOf(index) === texts.shown;
    const cards = whole.cards.map((one, index) => one && { ...one, here: here(index) });
    return { ...sent, lesson: { ...whole, cards, card, visit: visits } };
  };
  /**
   * Show a card of another text.
   * @param {number} card
   */
  const goTo = async (card) => {
    await texts.show(card);
    visits += 1;
    lesson.update(contentAt(card));
  };
  const root = found("#lesson").attachShadow({ mode: "open" }); // the styles of both stay apart
  root.append(/** @type {HTMLTemplateElement} */ (found("#lesson-parts")).content);
  const first = cardInAddress(whole);
  await texts.show(first);
  const lesson = mountLesson(root, contentAt(first), {
    onCard: (card, here) => {
      if (!here) turn = turn.then(() => goTo(card));
    },
    onStart: (name) => location.assign(`${encodeURIComponent(name)}.${sent.language}.html`),
    onLeave: sent.back ? () => location.assign(sent.back ?? "") : undefined,
  });
}

bytesOf(found("#lesson-payload")).then(readContent).then(showLesson);
