import type { Say } from "../../dom/js/sentences.ts";
import type { ShownCard } from "../../page/js/pictureOnPage.ts";
import type { Card, Lesson } from "./content.ts";

/**
 * A card as the guests of a class read it, and its question as what they vote on.
 * @param index from 0
 * @returns null for a card that cannot be shown, or is not filled in yet
 */
export function shownCard(
  { title, cards }: Lesson,
  index: number,
  answered: boolean,
  say: Say,
): ShownCard | null {
  const card = cards[index];
  if (!card || card.problem) return null;
  const asks = card.question !== "" && card.right !== null;
  const because = answered && asks ? answerOf(card, say) : "";
  return {
    card: { title, number: index + 1, cards: cards.length, text: card.text, because },
    question: asks ? questionOf(card, answered) : null,
  };
}

function questionOf({ question, choices, right }: Card, answered: boolean): ShownCard["question"] {
  const answer = answered ? right : null;
  const none = { head: "", tokens: [], positions: [] };
  return { ...none, kind: "card", candidates: choices, prompt: question, answer };
}

function answerOf({ choices, right, because }: Card, say: Say) {
  return say(because ? "seen" : "seen_alone", { answer: choices[right ?? 0], because });
}
