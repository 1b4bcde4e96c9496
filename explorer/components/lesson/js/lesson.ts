import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { onAskShown, onRevealCard, tellCard } from "../../page/js/classEvents.ts";
import {
  closeCell,
  FOLLOWED,
  highlight,
  lessonAsks,
  NEXT_TOKEN,
  type OpenQuestion,
  onAway,
  onSeen,
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
  const { values: state, set } = createStore({
    shown: content,
    index: (content.lesson as Lesson).card,
    chosen: answersOf(content.lesson as Lesson),
    away: false, // whether the person has moved on from what the card shows
    waiting: false, // for a card of another text
  });
  const screen = createScreen();
  const lessonNow = () => state.shown.lesson as Lesson;
  const heard = { ...listeners };
  const say: Say = (key, facts) => fillIn(state.shown.strings, key, facts);
  const parts = createParts(say, {
    back: () => go(state.index - 1),
    next: () => goOn(),
    again: () => {
      answer(null);
      go(state.index);
    },
    leave: listeners.onLeave && (() => leave()),
    choose: (choice) => answer(choice),
  });
  const { root } = parts;
  parent.append(root);
  watchTheme(root);

  /** @param choice for the card on screen; null = it is asked anew */
  const answer = (choice: number | null) => {
    const chosen = new Map(state.chosen);
    if (choice === null) chosen.delete(state.index);
    else chosen.set(state.index, choice);
    keepAnswers(lessonNow().name, chosen);
    set({ chosen, waiting: false });
    screen.flush(); // the picture may show at once what the card no longer asks
  };
  const see = () => {
    if (!state.chosen.has(state.index)) answer(-1);
  };
  const tell = () => {
    tellCard(shownCard(lessonNow(), state.index, state.chosen.has(state.index), say));
  };
  const ended = new AbortController();
  onResize([root], ended.signal, () => keepHeight(root.offsetHeight));
  onAway((away) => {
    set({ away, waiting: false });
    screen.flush(); // the picture that tells it asks in the same frame what the card asks
  }, ended.signal);
  onSeen(() => {
    if (lessonNow().cards[state.index]?.answer === NEXT_TOKEN) see();
  }, ended.signal);
  onRevealCard(see, ended.signal);
  onAskShown(tell, ended.signal);
  document.documentElement.setAttribute(FOLLOWED, "");

  const draw = () => {
    const { shown, index, chosen, away } = state;
    const { cards } = lessonNow();
    root.lang = shown.language;
    const card = cards[index];
    const elsewhere = away || (card?.here === false && !card.problem);
    parts.draw(shown, index, chosen.get(index), elsewhere);
    highlight(card?.highlight ?? "");
    const answered = chosen.has(index);
    const asks = card && !answered && !elsewhere;
    const open = cards.filter((_, number) => number >= index && !chosen.has(number));
    tellAsking({
      answer: asks ? card.answer : "",
      answered: answered && !elsewhere,
      open: open.flatMap(questionOf),
    });
  };
  const markWaiting = () => root.classList.toggle("waiting", state.waiting);
  const go = (to: number) => {
    const { cards } = lessonNow();
    if (to < 0 || to >= cards.length) return;
    const card = cards[to];
    const here = Boolean(card?.here && card.look);
    if (here) {
      set({ index: to, waiting: false });
      screen.flush(); // what the card asks is known before the picture shows it
      showLook(card?.look as NonNullable<Card["look"]>);
    } else {
      set({ waiting: true });
      tellAsking({ ...lessonAsks(), answered: false }); // the answer was to the card that is left
    }
    heard.onCard(to, here);
  };
  const goOn = () => {
    const { cards, following } = lessonNow();
    if (state.index + 1 < cards.length) go(state.index + 1);
    else if (following) heard.onStart(following[0]);
    else leave();
  };
  const leave = () => {
    forgetAnswers();
    heard.onLeave?.();
  };
  /** Go to the card that the server chose; its picture comes from there, too. */
  const follow = () => {
    const { card, cards } = lessonNow();
    set({ index: card });
    if (!cards[card]?.look?.cell) closeCell();
  };
  follow();
  screen.show([draw, markWaiting, tell]);
  screen.flush();
  return {
    update: (next) => {
      const before = lessonNow();
      const now = next.lesson as Lesson;
      set({ shown: next, waiting: false });
      if (now.name !== before.name) set({ chosen: answersOf(now) });
      // The server names the card it knows; the browser may be further by now.
      if (now.name !== before.name || now.visit !== before.visit) follow();
      screen.flush(); // before the picture of the card, as in `go`
    },
    listen: (next) => {
      Object.assign(heard, next);
      set({ waiting: false }); // an answer of any kind ends the waiting
    },
    focus: () => parts.next.focus(),
    destroy: () => {
      ended.abort();
      screen.stop();
      tellCard(null);
      tellLeft();
      highlight("");
      tellAsking();
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
    buttonElement(actions[name], { testid: `lesson-${name}` });
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
