import { CARD } from "../../shared/js/classEvents.js";

/** @import { ShownCard } from "../../shared/js/classEvents.js" */
/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Card, Lesson } from "./content.js" */

/**
 * A card as the guests of a class read it, and its question as what they vote on.
 * @param {Lesson} lesson
 * @param {number} index from 0
 * @param {boolean} answered
 * @param {Say} say
 * @returns {ShownCard | null} null for a card that cannot be shown, or is not filled in yet
 */
export function shownCard({ title, cards }, index, answered, say) {
  const card = cards[index];
  if (!card || card.problem) return null;
  const asks = card.question !== "" && card.right !== null;
  const because = answered && asks ? answerOf(card, say) : "";
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

/**
 * @param {Card} card
 * @param {Say} say
 */
function answerOf({ choices, right, because }, say) {
  return say(because ? "seen" : "seen_alone", { answer: choices[right ?? 0], because });
}

/** @param {ShownCard | null} card null = no lesson is open */
export function tellCard(card) {
  document.dispatchEvent(new CustomEvent(CARD, { detail: card }));
}
