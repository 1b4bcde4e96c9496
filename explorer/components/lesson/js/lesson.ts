import { onResize } from "../../dom/js/onResize.ts";
import { computed, createScreen, untracked } from "../../dom/js/store.ts";
import { explainTerms } from "../../dom/js/terms.ts";
import type { LessonOnPage, LessonQuestions, OpenQuestion } from "../../page/js/lessonOnPage.ts";
import { onPage, placeOnPage, setOnPage } from "../../page/js/onPage.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { answersOf, firstTriesOf, forgetAnswers, scoreOf } from "./answers.ts";
import { createParts } from "./cardParts.ts";
import { shownCard } from "./classCard.ts";
import type { Card, Content, Lesson, Listeners } from "./content.ts";
import { keepFinished } from "./finished.ts";
import { createProgress, type Progress } from "./progress.ts";
import { keepScore } from "./scores.ts";

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
  const progress = createProgress(content);
  const { state, set } = progress;
  const heard = { ...listeners };
  const unmounted = new AbortController();
  const screen = createScreen();
  const moves = createMoves(progress, heard, () => {
    screen.flush();
    if (parts.next.hidden) parts.leave.focus(); // the focus was on it
  });
  const leave = listeners.onLeave && moves.leave;
  const parts = createParts(progress.say, { ...moves, leave, choose: progress.answer });
  const { root } = parts;
  parent.append(root);
  watchTheme(root);
  onResize([root], unmounted.signal, () => keepHeight(root.offsetHeight));
  setOnPage({ away: false });
  placeOnPage("lesson", shownOnPage(progress), unmounted.signal);
  explainTerms(root, progress.say, unmounted.signal);
  document.documentElement.setAttribute(OPEN, "");
  const draw = () => {
    const { shown, index, chosen, first } = state;
    root.lang = shown.language;
    if (progress.ended()) parts.drawEnd(shown, scoreOf(first));
    else parts.draw(shown, index, chosen.get(index), progress.elsewhere());
    parts.drawWaiting(progress.lesson(), state.waiting);
  };
  moves.follow();
  progress.seeDeed();
  screen.show({ views: [draw] });
  screen.flush();
  return {
    update: (next) => {
      const before = progress.lesson();
      const now = next.lesson as Lesson;
      set({ shown: next, waiting: null });
      if (now.name !== before.name) set({ chosen: answersOf(now), first: firstTriesOf(now) });
      // The server names the card it knows; the browser may be further by now.
      if (now.name !== before.name || now.visit !== before.visit) moves.follow();
      progress.seeDeed();
    },
    listen: (next) => Object.assign(heard, next),
    focus: () => parts.next.focus(),
    destroy: () => {
      unmounted.abort();
      screen.stop();
      document.documentElement.removeAttribute(OPEN);
      keepHeight(0);
      root.remove();
    },
  };
}

/**
 * The ways from card to card and out of the lesson.
 * @param onEnd called when the end is what is to be drawn
 */
function createMoves(
  { state, set, lesson, ended, answer, forgetAll }: Progress,
  heard: Listeners,
  onEnd: () => void,
) {
  const go = (to: number) => {
    const { cards } = lesson();
    if (to < 0 || to >= cards.length) return;
    const look = cards[to]?.here ? cards[to].look : null;
    if (look) set({ index: to, look: { ...look }, waiting: null });
    else set({ waiting: to });
    heard.onCard(to, look !== null);
  };
  return {
    back: () => go(state.index - 1),
    next: () => {
      const { cards, following, name } = lesson();
      const next = state.index + 1;
      if (next < cards.length) go(next);
      else if (next > cards.length) heard.onStart(following?.[0] ?? "");
      else {
        const right = scoreOf(state.first);
        keepFinished(name);
        if (right !== null) keepScore(name, { right, questions: lesson().questions });
        set({ index: next, waiting: null });
        onEnd();
      }
    },
    again: () => {
      if (ended()) forgetAll();
      else answer(null);
      go(ended() ? 0 : state.index);
    },
    leave: () => {
      forgetAnswers();
      heard.onLeave?.();
    },
    /** Go to the card that the server chose; its picture comes from there, too. */
    follow: () => {
      const { card, cards } = lesson();
      set({ index: card });
      const look = cards[card]?.look;
      if (look && "moment" in look) set({ look: { ...look } });
      else if (!look?.cell) onPage.picture?.closeCell();
    },
  };
}

/** What the other components of the page know of the lesson. */
function shownOnPage(progress: Progress): LessonOnPage {
  const { state, say, lesson, card, answered, elsewhere, answer } = progress;
  const asked = computed((): LessonQuestions => {
    const open = lesson().cards.filter(
      (_, number) => number >= state.index && !state.chosen.has(number),
    );
    return {
      answer: answered() || elsewhere() ? "" : (card()?.answer ?? ""),
      answered: answered() && !elsewhere() && state.waiting === null, // else it was to the card that is left
      open: open.flatMap(questionOf),
    };
  });
  const told = computed(() => shownCard(lesson(), state.index, answered(), say));
  const see = () => {
    if (card()?.question && !answered()) answer(-1);
  };
  const parameters = () => {
    const { name, cards } = lesson();
    const number = Math.min(state.index + 1, cards.length);
    return `${new URLSearchParams({ lesson: name, card: String(number) })}`;
  };
  return { card, parameters, look: () => state.look, asked, told, reveal: () => untracked(see) };
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
