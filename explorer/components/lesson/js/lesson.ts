import { assign, element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { onAskShown, onRevealCard, tellCard } from "../../page/js/classEvents.ts";
import type { OpenQuestion } from "../../page/js/lessonEvents.ts";
import {
  asking,
  closeCell,
  FOLLOWED,
  highlight,
  NEXT_TOKEN,
  onAway,
  onSeen,
  openQuestions,
  showLook,
  tellAsking,
  tellLeft,
} from "../../page/js/lessonEvents.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { answersOf, forgetAnswers, keepAnswers } from "./answers.ts";
import { shownCard } from "./classCard.ts";
import type { Card, Content, Lesson, Listeners } from "./content.ts";
import { createQuestion } from "./question.ts";

const HEIGHT = "--lesson-height"; // read by what stays in view below the card

/**
 * The card of a lesson: a sentence, a question, and the way on. Cards of the text on screen follow
 * each other without the server.
 */
export function mountLesson(
  parent: HTMLElement | ShadowRoot,
  content: Content,
  listeners: Listeners,
): View<Content, Listeners> & { focus: () => void } {
  let shown = content;
  let lesson = content.lesson as Lesson;
  let index = lesson.card;
  let chosen = answersOf(lesson);
  const heard = { ...listeners };
  const say: Say = (key, facts) => fillIn(shown.strings, key, facts);
  const parts = createParts(say, {
    back: () => go(index - 1),
    next: () => goOn(),
    again: () => {
      answer(null);
      go(index);
    },
    leave: listeners.onLeave && (() => leave()),
    choose: (choice) => {
      answer(choice);
      draw();
    },
  });
  const { root } = parts;
  parent.append(root);
  watchTheme(root, () => {});
  const resized = new ResizeObserver(() => keepHeight(root.offsetHeight));
  resized.observe(root);

  let away = false; // the person has moved on from what the card shows
  const ended = new AbortController();
  onAway((now) => {
    away = now;
    draw();
  }, ended.signal);
  /** @param choice for the card on screen; null = it is asked anew */
  const answer = (choice: number | null) => {
    if (choice === null) chosen.delete(index);
    else chosen.set(index, choice);
    keepAnswers(lesson.name, chosen);
  };
  const see = () => {
    if (chosen.has(index)) return;
    answer(-1);
    draw();
  };
  onSeen(() => {
    if (lesson.cards[index]?.answer === NEXT_TOKEN) see();
  }, ended.signal);
  const tell = () => tellCard(shownCard(lesson, index, chosen.has(index), say));
  onRevealCard(see, ended.signal);
  onAskShown(tell, ended.signal);
  document.documentElement.setAttribute(FOLLOWED, "");

  const draw = () => {
    root.lang = shown.language;
    root.classList.remove("waiting");
    const card = lesson.cards[index];
    const elsewhere = away || (card?.here === false && !card.problem);
    parts.draw(shown, index, chosen.get(index), elsewhere);
    highlight(card?.highlight ?? "");
    const answered = chosen.has(index);
    const asks = card && !answered && !elsewhere;
    const open = lesson.cards.filter((_, number) => number >= index && !chosen.has(number));
    tellAsking(asks ? card.answer : "", answered && !elsewhere, open.flatMap(questionOf));
    tell();
  };
  const go = (to: number) => {
    if (to < 0 || to >= lesson.cards.length) return;
    const card = lesson.cards[to];
    const here = Boolean(card?.here && card.look);
    if (here) {
      index = to;
      draw();
      showLook(card?.look as NonNullable<Card["look"]>);
    } else {
      root.classList.add("waiting");
      tellAsking(asking(), false, openQuestions()); // the answer was to the card that is left
    }
    heard.onCard(to, here);
  };
  const goOn = () => {
    if (index + 1 < lesson.cards.length) go(index + 1);
    else if (lesson.following) heard.onStart(lesson.following[0]);
    else leave();
  };
  const leave = () => {
    forgetAnswers();
    heard.onLeave?.();
  };
  /** Go to the card that the server chose; its picture comes from there, too. */
  const follow = () => {
    index = lesson.card;
    if (!lesson.cards[index]?.look?.cell) closeCell();
  };
  follow();
  draw();
  return {
    update: (next) => {
      const now = next.lesson as Lesson;
      // The server names the card it knows; the browser may be further by now.
      const chosenThere = now.name !== lesson.name || now.visit !== lesson.visit;
      if (now.name !== lesson.name) chosen = answersOf(now);
      [shown, lesson] = [next, now];
      if (chosenThere) follow();
      draw();
    },
    listen: (next) => {
      Object.assign(heard, next);
      root.classList.remove("waiting"); // an answer of any kind ends the waiting
    },
    focus: () => parts.next.focus(),
    destroy: () => {
      ended.abort();
      tellCard(null);
      tellLeft();
      resized.disconnect();
      highlight("");
      tellAsking("");
      keepHeight(0);
      root.remove();
    },
  };
}

/** What a card asks of the text on screen; nothing where it asks nothing, or of another text. */
function questionOf(card: Card | null): OpenQuestion[] {
  if (!card?.answer || !card.here || !card.look) return [];
  const { site, layer, head, step, cell } = card.look;
  const [query, key] = cell ?? [(step ?? 1) - 1, null];
  const place = { site: site ?? null, layer: layer ?? 0, head: head ?? 0 };
  return [{ answer: card.answer, ...place, query, key }];
}

/** @param height px */
function keepHeight(height: number) {
  document.documentElement.style.setProperty(HEIGHT, `${height}px`);
}

export interface Actions {
  back: () => void;
  next: () => void;
  again: () => void;
  leave?: () => void; // not in an exported page
  choose: (choice: number) => void;
}

/** The elements of the card, and what draws a card into them. */
function createParts(say: Say, actions: Actions) {
  const button = (name: "back" | "next" | "again" | "leave") =>
    element("button", { type: "button", testid: `lesson-${name}`, on: { click: actions[name] } });
  const buttons = {
    back: button("back"),
    next: button("next"),
    again: button("again"),
    leave: button("leave"),
  };
  buttons.next.classList.add("primary");
  const title = element("h2", { testid: "lesson-title" });
  const progress = element("span", { class: "progress", testid: "lesson-progress" });
  const text = element("p", { class: "text", "aria-live": "polite", testid: "lesson-text" });
  const question = createQuestion(say, actions.choose);
  const heading = element("div", { class: "heading" }, title, progress);
  const moves = element("div", { class: "moves" }, ...Object.values(buttons));
  const root = element(
    "section",
    { class: "player lesson", testid: "lesson" },
    element("div", { class: "side" }, heading, moves),
    text,
    question.element,
  );
  const draw = (shown: Content, index: number, choice: number | undefined, away: boolean) => {
    const lesson = shown.lesson as Lesson;
    const card = lesson.cards[index];
    const place = { card: index + 1, cards: lesson.cards.length };
    assign(root, "aria-label", `${say("card_label")}: ${lesson.title}`);
    write(title, lesson.title);
    write(progress, away ? say("progress_away", place) : say("progress", place));
    buttons.again.classList.toggle("primary", away);
    assign(progress, "aria-label", say("progress_spoken", place));
    write(text, card ? card.problem || card.text : "");
    text.classList.toggle("problem", Boolean(card?.problem));
    question.draw(card, choice);
    write(buttons.back, say("back"));
    buttons.back.disabled = index === 0;
    write(buttons.again, say("view"));
    assign(buttons.again, "title", say("view_title"));
    drawWayOn(say, shown, index, { ...buttons, leaves: Boolean(actions.leave) });
  };
  return { root, next: buttons.next, draw };
}

/**
 * The buttons that lead on from a card, and out of the lesson. In the app a lesson is left at any
 * card; a page of its own says at its last card where it leads back to.
 * @param buttons leaves:
 *   whether the lesson can be left
 */
function drawWayOn(
  say: Say,
  { lesson, back }: Content,
  index: number,
  { next, leave, leaves }: { next: HTMLButtonElement; leave: HTMLButtonElement; leaves: boolean },
) {
  const last = index + 1 === lesson?.cards.length;
  const following = last ? lesson?.following : null;
  const ends = last && !following;
  write(next, say(ends ? "finish" : last ? "next_lesson" : "next"));
  assign(next, "title", following ? following[1] : null);
  next.hidden = ends && (!leaves || Boolean(back));
  write(leave, say(back ? "to_explorer" : "leave"));
  assign(leave, "title", back ? null : say("leave_title"));
  leave.hidden = !leaves || (Boolean(back) && !last);
  leave.classList.toggle("primary", ends && Boolean(back));
}
