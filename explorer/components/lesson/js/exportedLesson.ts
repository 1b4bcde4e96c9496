import { fillIn } from "../../dom/js/sentences.ts";
import type { Look } from "../../page/js/lessonOnPage.ts";
import { mountFromPage } from "../../player/js/pagePlayer.ts";
import { bytesOf } from "../../player/js/pageResources.ts";
import { type Card, type Content, type Lesson, readContent } from "./content.ts";
import { mountLesson } from "./lesson.ts";
import { createSheet } from "./sheet.ts";

/** An element that the page has. */
function found(selector: string) {
  return document.querySelector(selector) as HTMLElement;
}

/** The card that the address names from 1, as an index; the first one where it names none. */
function cardInAddress(lesson: Lesson) {
  const named = Number(new URLSearchParams(location.hash.slice(1)).get("card"));
  return lesson.cards[named - 1] === undefined ? 0 : named - 1;
}

/** The players of a lesson's texts, one at a time. */
class Texts {
  cards: (Card | null)[];
  parts: HTMLElement[];
  shown: HTMLElement | undefined;
  player: Awaited<ReturnType<typeof mountFromPage>> | undefined;

  constructor(lesson: Lesson) {
    this.cards = lesson.cards;
    this.parts = [...document.querySelectorAll("[data-cards]")] as HTMLElement[];
    this.shown = undefined;
    this.player = undefined;
  }

  /** The part of the page with the text that a card speaks of. */
  partOf(card: number) {
    return this.parts.find((part) => part.dataset.cards?.split(" ").includes(String(card)));
  }

  /** Replace the player by one of the text that a card speaks of; without a text it stays. */
  async show(card: number) {
    const part = this.partOf(card);
    if (!part || part === this.shown) return;
    const payload = part.querySelector("[data-payload]") as HTMLElement;
    const look = (this.cards[card]?.look as Look | null) ?? undefined;
    this.player?.destroy();
    this.shown = part;
    this.player = await mountFromPage(found("#player"), part, payload, look);
  }
}

/** @param sent with all cards of the lesson */
async function showLesson(sent: Content) {
  const whole = sent.lesson as Lesson;
  const texts = new Texts(whole);
  let visits = 0;
  let turn = Promise.resolve(); // one card after the other

  /**
   * What the card is told where the app's server would: which card to show, and which others are of
   * the text on screen.
   */
  const contentAt = (card: number): Content => {
    const here = (index: number) => texts.partOf(index) === texts.shown;
    const cards = whole.cards.map((one, index) => one && { ...one, here: here(index) });
    return { ...sent, lesson: { ...whole, cards, card, visit: visits } };
  };
  /** Show a card of another text. */
  const goTo = async (card: number) => {
    await texts.show(card);
    visits += 1;
    lesson.update(contentAt(card));
  };
  document.body.append(createSheet(whole, (key, facts) => fillIn(sent.strings, key, facts)));
  const root = found("#lesson").attachShadow({ mode: "open" }); // the styles of both stay apart
  root.append((found("#lesson-parts") as HTMLTemplateElement).content);
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
