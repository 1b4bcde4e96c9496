import { element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { Card, Lesson } from "./content.ts";

/** A lesson on paper, which a browser prints in the place of the page: its cards, then its answers. */
export function createSheet({ title, cards }: Lesson, say: Say) {
  const known = cards.flatMap((card) => (card && !card.problem ? [card] : []));
  return element(
    "section",
    { class: "sheet", testid: "sheet" },
    element("h1", {}, title),
    element("ol", {}, ...known.map(taskOf)),
    element("h1", { class: "answers" }, say("answers_of", { title })),
    element("ol", {}, ...known.map((card) => answerOf(card, say))),
  );
}

function taskOf({ text, question, choices }: Card) {
  if (!question) return element("li", {}, element("p", {}, text));
  const boxes = choices.map((choice) => element("span", { class: "choice" }, `☐ ${choice}`));
  return element(
    "li",
    {},
    element("p", {}, text),
    element("p", { class: "question" }, question),
    element("p", {}, ...boxes),
  );
}

/** An empty item for a card that asks nothing, so that both lists count alike. */
function answerOf({ choices, right, because, question }: Card, say: Say) {
  if (!question || right === null) return element("li", {}, "–");
  const key = because ? "seen" : "seen_alone";
  return element("li", {}, say(key, { answer: choices[right], because }));
}
