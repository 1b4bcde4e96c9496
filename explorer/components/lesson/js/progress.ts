import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createStore } from "../../dom/js/store.ts";
import type { Look, TrainingLook } from "../../page/js/lessonOnPage.ts";
import { onPage } from "../../page/js/onPage.ts";
import { answersOf, firstTriesOf, keepAnswers } from "./answers.ts";
import type { Content, Lesson } from "./content.ts";

export type Progress = ReturnType<typeof createProgress>;

/** How far a visitor is in a lesson, what was answered, and what follows from both. */
export function createProgress(content: Content) {
  const opened = content.lesson as Lesson;
  const { values: state, set } = createStore({
    shown: content,
    index: opened.card, // of the card on screen; after the last one the end
    chosen: answersOf(opened),
    first: firstTriesOf(opened),
    look: null as Look | TrainingLook | null, // what the picture is to show
    waiting: null as number | null, // the card of another text that was asked for
  });
  const say: Say = (key, facts) => fillIn(state.shown.strings, key, facts);
  const lesson = () => state.shown.lesson as Lesson;
  const card = () => lesson().cards[state.index] ?? null;
  const ended = () => state.index >= lesson().cards.length;
  const answered = () => state.chosen.has(state.index);
  /** Whether the picture is not that of the card. */
  const elsewhere = () => {
    const shown = card();
    if (ended() || shown?.done) return false;
    return onPage.away || (shown?.here === false && !shown.problem && shown.done === null);
  };
  /** @param choice for the card on screen; null = it is asked anew */
  const answer = (choice: number | null) => {
    const { index } = state;
    const chosen = new Map(state.chosen);
    const first = new Map(state.first);
    if (choice === null) chosen.delete(index);
    else {
      const right = Number(choice === card()?.right);
      chosen.set(index, choice);
      if (!first.has(index)) first.set(index, choice < 0 ? choice : right);
    }
    keepAnswers(lesson().name, chosen, first);
    set({ chosen, first, waiting: null });
  };
  /** The lesson begins anew. */
  const forgetAll = () => {
    keepAnswers(lesson().name, new Map(), new Map());
    set({ chosen: new Map(), first: new Map() });
  };
  /** What a card asks to do is its answer, once the picture has it. */
  const seeDeed = () => {
    if (card()?.done && !answered()) answer(0);
  };
  return { state, set, say, lesson, card, ended, answered, elsewhere, answer, forgetAll, seeDeed };
}
