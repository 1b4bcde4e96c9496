/** What a visitor has answered to the cards of lessons, kept while the tab is open. */

import { ofTab, store, stored } from "../../shared/js/browserStorage.js";

/** @import { Lesson } from "./content.js" */

/**
 * @typedef {Map<number, number>} Answers index of the choice by card, from 0; -1 where the player has
 *   shown the answer
 */

const ANSWERS = "attention-lesson-answers"; // JSON: cards and choices, by lesson

/**
 * The answers given to a lesson, also before a reload or on an earlier visit.
 * @param {Lesson} lesson
 * @returns {Answers}
 */
export function answersOf({ name, cards }) {
  const kept = Object.entries(all()[name] ?? {}).map(
    ([card, choice]) => /** @type {const} */ ([Number(card), choice]),
  );
  return new Map(kept.filter(([card]) => card < cards.length));
}

/**
 * @param {string} name of a lesson
 * @param {Answers} answers
 */
export function keepAnswers(name, answers) {
  store(ANSWERS, JSON.stringify({ ...all(), [name]: Object.fromEntries(answers) }), ofTab);
}

/** Who leaves a lesson and comes back begins it anew, as does the next class. */
export function forgetAnswers() {
  store(ANSWERS, null, ofTab);
}

/** @returns {Record<string, Record<string, number>>} */
function all() {
  return JSON.parse(stored(ANSWERS, ofTab) ?? "{}");
}
