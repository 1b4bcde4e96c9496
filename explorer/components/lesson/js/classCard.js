import { CARD } from "../../shared/js/classEvents.js";

/** @import { ShownCard } from "../../shared/js/classEvents.js" */
/** @import { Card, Lesson } from "./content.js" */

/**
 * A card as the guests of a class read it, and its question as what they vote on.
 * @param {Lesson} lesson
 * @param {number} index from 0
 * @param {boolean} answered
 * @returns {ShownCard | null} null for a card that cannot be shown, or is not filled in yet
 */
export function shownCard({ title, cards }, index, answered) {
  const card = cards[index];
  if (!card || card.problem) return null;
  const because = answered ? card.because : "";
  const asks = card.question !== "" && card.right !== null;
  return {
    card: { title, number: index + 1, cards: cards.length, text: card.text, because },
    question: asks ? questionOf(card, answered) : null,
  };
}

/**
 * @param {Card} card
 * @param {boolean} answered
 * @returns {ShownCard["question"]}
 */
function questionOf({ question, choices, right }, answered) {
  const answer = answered ? right : null;
  const none = { head: "", tokens: [], positions: [] };
  return { ...none, kind: "card", candidates: choices, prompt: question, answer };
}

/** @param {ShownCard | null} card null = no lesson is open */
export function tellCard(card) {
  document.dispatchEvent(new CustomEvent(CARD, { detail: card }));
}
