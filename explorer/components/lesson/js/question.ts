import { assign, buttonElement, element, populate, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { Card } from "./content.ts";

/**
 * The question of a card with its choices as buttons; after one was chosen, or the player has shown
 * the answer, whether it is right and why. Of a card that asks for a deed, whether that is done.
 */
export function createQuestion(say: Say, choose: (choice: number) => void) {
  const question = element("p", { class: "question", testid: "lesson-question" });
  const choices = element("div", { class: "choices", role: "group", testid: "lesson-choices" });
  const answer = element("p", { class: "answer", role: "status", testid: "lesson-answer" });
  const link = element("a", { target: "_blank", testid: "lesson-link" });
  const node = element("div", { class: "asked" }, question, choices, answer, link);
  /** @param choice -1 where the answer was seen in the player */
  const draw = (card: Card | null | undefined, choice: number | undefined) => {
    const asks = Boolean(card?.question || card?.deed);
    node.hidden = !asks && !card?.link;
    write(answer, "");
    assign(link, "href", card?.link || null);
    write(link, card?.link ? say("to_heads") : "");
    choices.hidden = !card?.question;
    write(question, card?.question ?? "");
    if (!card || !asks) return;
    if (card.deed) {
      drawDeed(card, choice !== undefined);
      return;
    }
    assign(choices, "aria-label", card.question);
    const buttons = populate(choices, card.choices.length, (index) =>
      buttonElement(() => choose(index), {}),
    );
    for (const [index, button] of buttons.entries()) {
      write(button, card.choices[index]);
      const marked = choice !== undefined && (index === card.right || index === choice);
      assign(button, "aria-pressed", index === choice ? "true" : "false");
      assign(button, "data-mark", marked ? (index === card.right ? "right" : "wrong") : null);
    }
    if (choice === undefined || card.right === null) return;
    const mark = choice < 0 ? null : choice === card.right ? "right" : "wrong";
    assign(answer, "data-mark", mark);
    const key = `${mark ?? "seen"}${card.because ? "" : "_alone"}`;
    write(answer, say(key, { answer: card.choices[card.right], because: card.because }));
  };
  const drawDeed = ({ because, look }: Card, done: boolean) => {
    const todo = say(look && "moment" in look ? "deed_train" : "deed");
    write(question, done ? "" : todo);
    assign(answer, "data-mark", done ? "right" : null);
    write(answer, done ? say(because ? "deed_done" : "deed_done_alone", { because }) : "");
  };
  return { element: node, draw };
}
