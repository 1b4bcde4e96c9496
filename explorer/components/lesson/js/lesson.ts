import { onResize } from "../../dom/js/onResize.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { onAskShown, onRevealCard, tellCard } from "../../page/js/classEvents.ts";
import {
  closeCell,
  highlight,
  lessonAsks,
  NEXT_TOKEN,
  type OpenQuestion,
  onAway,
  onSeen,
  showLook,
  showMoment,
  tellAsking,
  tellBegun,
  tellLeft,
} from "../../page/js/lessonEvents.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { answersOf, firstTriesOf, forgetAnswers, keepAnswers, scoreOf } from "./answers.ts";
import { createParts } from "./cardParts.ts";
import { shownCard } from "./classCard.ts";
import type { Card, Content, Lesson, Listeners } from "./content.ts";
import { keepFinished } from "./finished.ts";

const HEIGHT = "--lesson-height"; // read by what stays in view below the card

/**
 * The card of a lesson: a sentence, a question, and the way on; after the last one the end. Cards of
 * the text on screen follow each other without the server.
 */
export function mountLesson(
  parent: HTMLElement | ShadowRoot,
  content: Content,
  listeners: Listeners,
): View<Content, Listeners> & { focus: () => void } {
  const { values: state, set } = createStore({
    shown: content,
    index: (content.lesson as Lesson).card, // of the card on screen; after the last one the end
    chosen: answersOf(content.lesson as Lesson),
    first: firstTriesOf(content.lesson as Lesson),
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
    const { index } = state;
    const chosen = new Map(state.chosen);
    const first = new Map(state.first);
    if (choice === null) chosen.delete(index);
    else {
      const right = Number(choice === lessonNow().cards[index]?.right);
      chosen.set(index, choice);
      if (!first.has(index)) first.set(index, choice < 0 ? choice : right);
    }
    keepAnswers(lessonNow().name, chosen, first);
    set({ chosen, first, waiting: false });
    screen.flush(); // the picture may show at once what the card no longer asks
  };
  const see = () => {
    const asked = lessonNow().cards[state.index]?.question;
    if (asked && !state.chosen.has(state.index)) answer(-1);
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
  tellBegun();

  const draw = () => {
    const { shown, index, chosen, first, away } = state;
    const { cards } = lessonNow();
    root.lang = shown.language;
    const card = cards[index];
    const ended = index >= cards.length;
    const elsewhere = !ended && (away || (card?.here === false && !card.problem));
    if (ended) parts.drawEnd(shown, scoreOf(first));
    else parts.draw(shown, index, chosen.get(index), elsewhere);
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
      showPicture(card);
    } else {
      set({ waiting: true });
      tellAsking({ ...lessonAsks(), answered: false }); // the answer was to the card that is left
    }
    heard.onCard(to, here);
  };
  const goOn = () => {
    const { cards, following, name } = lessonNow();
    const next = state.index + 1;
    if (next < cards.length) go(next);
    else if (next > cards.length) heard.onStart(following?.[0] ?? "");
    else {
      keepFinished(name);
      set({ index: next, waiting: false });
      screen.flush();
      if (parts.next.hidden) parts.leave.focus(); // the focus was on it
    }
  };
  const leave = () => {
    forgetAnswers();
    heard.onLeave?.();
  };
  /** Go to the card that the server chose; its picture comes from there, too. */
  const follow = () => {
    const { card, cards } = lessonNow();
    set({ index: card });
    const look = cards[card]?.look;
    if (look && "moment" in look) showPicture(cards[card]);
    else if (!look?.cell) closeCell();
  };
  follow();
  screen.show({ views: [draw, markWaiting, tell] });
  screen.flush();
  return {
    update: (next) => {
      const before = lessonNow();
      const now = next.lesson as Lesson;
      set({ shown: next, waiting: false });
      if (now.name !== before.name) set({ chosen: answersOf(now), first: firstTriesOf(now) });
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
      showMoment(null);
      keepHeight(0);
      root.remove();
    },
  };
}

/** Show what a card speaks of, a part of the trace or a moment of the training. */
function showPicture(card: Card | null) {
  if (!card?.look) return;
  if ("moment" in card.look) showMoment(card.look);
  else showLook(card.look);
}

/** What a card asks of the text on screen; nothing where it asks nothing, or of another text. */
function questionOf(card: Card | null): OpenQuestion[] {
  if (!card?.answer || !card.here || !card.look) return [];
  const { site, layer, head, step } = card.look;
  const cell = "cell" in card.look ? card.look.cell : null;
  const [query, key] = cell ?? [(step ?? 1) - 1, null];
  const place = { site: site ?? null, layer: layer ?? 0, head: head ?? 0 };
  return [{ answer: card.answer, ...place, query, key }];
}

/** @param height px */
function keepHeight(height: number) {
  document.documentElement.style.setProperty(HEIGHT, `${height}px`);
}
