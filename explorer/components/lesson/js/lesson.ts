import { onResize } from "../../dom/js/onResize.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { computed, createScreen, createStore, untracked } from "../../dom/js/store.ts";
import type {
  LessonQuestions,
  Look,
  OpenQuestion,
  TrainingLook,
} from "../../page/js/lessonOnPage.ts";
import { onPage, placeOnPage, setOnPage } from "../../page/js/onPage.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { answersOf, firstTriesOf, forgetAnswers, keepAnswers, scoreOf } from "./answers.ts";
import { createParts } from "./cardParts.ts";
import { shownCard } from "./classCard.ts";
import type { Card, Content, Lesson, Listeners } from "./content.ts";
import { keepFinished } from "./finished.ts";

const OPEN = "data-lesson"; // on the page, for its style sheet
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
    look: null as Look | TrainingLook | null, // what the picture is to show
    waiting: false, // for a card of another text
  });
  const screen = createScreen();
  const lessonNow = () => state.shown.lesson as Lesson;
  const cardNow = () => lessonNow().cards[state.index] ?? null;
  const answered = () => state.chosen.has(state.index);
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
  };
  const see = () => {
    if (cardNow()?.question && !answered()) answer(-1);
  };
  const ended = new AbortController();
  onResize([root], ended.signal, () => keepHeight(root.offsetHeight));
  /** Whether the picture is not that of the card. */
  const elsewhere = () => {
    const card = cardNow();
    const ended = state.index >= lessonNow().cards.length;
    return !ended && (onPage.away || (card?.here === false && !card.problem));
  };
  const asked = computed((): LessonQuestions => {
    const card = cardNow();
    const open = lessonNow().cards.filter(
      (_, number) => number >= state.index && !state.chosen.has(number),
    );
    return {
      answer: card && !answered() && !elsewhere() ? card.answer : "",
      answered: answered() && !elsewhere() && !state.waiting, // else it was to the card that is left
      open: open.flatMap(questionOf),
    };
  });
  const told = computed(() => shownCard(lessonNow(), state.index, answered(), say));
  const reveal = () => untracked(see);
  setOnPage({ away: false });
  const shown = { card: cardNow, look: () => state.look, asked, told, reveal };
  placeOnPage("lesson", shown, ended.signal);
  document.documentElement.setAttribute(OPEN, "");

  const draw = () => {
    const { shown, index, chosen, first } = state;
    root.lang = shown.language;
    if (index >= lessonNow().cards.length) parts.drawEnd(shown, scoreOf(first));
    else parts.draw(shown, index, chosen.get(index), elsewhere());
  };
  const markWaiting = () => root.classList.toggle("waiting", state.waiting);
  const go = (to: number) => {
    const { cards } = lessonNow();
    if (to < 0 || to >= cards.length) return;
    const look = cards[to]?.here ? cards[to].look : null;
    if (look) set({ index: to, look: { ...look }, waiting: false });
    else set({ waiting: true });
    heard.onCard(to, look !== null);
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
    if (look && "moment" in look) set({ look: { ...look } });
    else if (!look?.cell) onPage.picture?.closeCell();
  };
  follow();
  screen.show({ views: [draw, markWaiting] });
  screen.flush();
  return {
    update: (next) => {
      const before = lessonNow();
      const now = next.lesson as Lesson;
      set({ shown: next, waiting: false });
      if (now.name !== before.name) set({ chosen: answersOf(now), first: firstTriesOf(now) });
      // The server names the card it knows; the browser may be further by now.
      if (now.name !== before.name || now.visit !== before.visit) follow();
    },
    listen: (next) => {
      Object.assign(heard, next);
      set({ waiting: false }); // an answer of any kind ends the waiting
    },
    focus: () => parts.next.focus(),
    destroy: () => {
      ended.abort();
      screen.stop();
      document.documentElement.removeAttribute(OPEN);
      keepHeight(0);
      root.remove();
    },
  };
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
