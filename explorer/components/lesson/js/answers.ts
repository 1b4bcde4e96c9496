/** What a visitor has answered to the cards of lessons, kept while the tab is open. */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import type { Lesson } from "./content.ts";

/** Index of the choice by card, from 0; -1 where the player has shown the answer. */
export type Answers = Map<number, number>;

const ANSWERS = "attention-lesson-answers"; // JSON: cards and choices, by lesson

/** The answers given to a lesson, also before a reload or on an earlier visit. */
export function answersOf({ name, cards }: Lesson): Answers {
  const kept = Object.entries(all()[name] ?? {}).map(
    ([card, choice]) => [Number(card), choice] as const,
  );
  return new Map(kept.filter(([card]) => card < cards.length));
}

/** @param name of a lesson */
export function keepAnswers(name: string, answers: Answers) {
  store(ANSWERS, JSON.stringify({ ...all(), [name]: Object.fromEntries(answers) }), ofTab);
}

/** Who leaves a lesson and comes back begins it anew, as does the next class. */
export function forgetAnswers() {
  store(ANSWERS, null, ofTab);
}

function all(): Record<string, Record<string, number>> {
  return JSON.parse(stored(ANSWERS, ofTab) ?? "{}");
}
