/** What a visitor has answered to the cards of lessons, kept while the tab is open. */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import type { Lesson } from "./content.ts";

/** Index of the choice by card, from 0; -1 where the player has shown the answer. */
export type Answers = Map<number, number>;

/** By card what was tried first: 1 = right, 0 = wrong, -1 = the player has shown the answer. */
export type FirstTries = Map<number, number>;

const ANSWERS = "attention-lesson-answers"; // JSON: cards and choices, by lesson
const FIRST_TRIES = "attention-lesson-first-tries"; // JSON in the same form

/** The answers given to a lesson, also before a reload or on an earlier visit. */
export function answersOf(lesson: Lesson): Answers {
  return keptOf(ANSWERS, lesson);
}

export function firstTriesOf(lesson: Lesson): FirstTries {
  return keptOf(FIRST_TRIES, lesson);
}

/** @param name of a lesson */
export function keepAnswers(name: string, answers: Answers, first: FirstTries) {
  keep(ANSWERS, name, answers);
  keep(FIRST_TRIES, name, first);
}

/** Who leaves a lesson and comes back begins it anew, as does the next class. */
export function forgetAnswers() {
  for (const kind of [ANSWERS, FIRST_TRIES]) store(kind, null, ofTab);
}

/** How many first tries were right; null where nobody has tried, as in a class that votes. */
export function scoreOf(first: FirstTries): number | null {
  const tries = [...first.values()].filter((right) => right >= 0);
  return tries.length ? tries.reduce((sum, right) => sum + right, 0) : null;
}

function keptOf(kind: string, { name, cards }: Lesson): Map<number, number> {
  const kept = Object.entries(all(kind)[name] ?? {}).map(
    ([card, value]) => [Number(card), value] as const,
  );
  return new Map(kept.filter(([card]) => card < cards.length));
}

function keep(kind: string, name: string, values: Map<number, number>) {
  store(kind, JSON.stringify({ ...all(kind), [name]: Object.fromEntries(values) }), ofTab);
}

function all(kind: string): Record<string, Record<string, number>> {
  return JSON.parse(stored(kind, ofTab) ?? "{}");
}
