import { element, populate } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { cells, isPicture, type Picture } from "../../page/js/smallPicture.ts";
import { labelOf, writeToken } from "../../trace/js/label.ts";
import type { ClassQuestion } from "./classroom.ts";

/** What the class is asked. */
export function questionText({ kind, head, tokens, prompt }: ClassQuestion, say: Say) {
  if (kind === "card") return prompt;
  if (kind === "token") return say("asked");
  if (kind === "picture") return say(head ? "guess_question_decoder" : "guess_question");
  return say("asked_key", { head, query: labelOf(tokens.at(-1) ?? "") });
}

/** The known tokens and the next one, where that is asked: a question mark until the reveal. */
export function writeKnown(
  parent: HTMLElement,
  { kind, tokens, candidates, answer }: ClassQuestion,
) {
  parent.hidden = kind !== "token";
  const nodes = populate(parent, tokens.length + 1, () => element("bdi", { class: "chip token" }));
  tokens.forEach((token, index) => {
    writeToken(nodes[index], token);
  });
  writeToken(nodes[tokens.length], candidates[answer ?? -1] ?? "?");
}

/**
 * Empty an element that shows the choices of another question.
 * @param number of the question
 */
export function renewFor(parent: HTMLElement, number: number) {
  if (parent.dataset.number === String(number)) return;
  parent.dataset.number = String(number);
  parent.replaceChildren();
}

/** Which place a key has, from 1, where another choice is the same token; else "". */
export function placeOf(
  { candidates, positions }: Pick<ClassQuestion, "candidates" | "positions">,
  index: number,
  say: Say,
) {
  const twice = candidates.filter((token) => token === candidates[index]).length > 1;
  return twice && index in positions ? say("place", { number: positions[index] + 1 }) : "";
}

/** Write a choice: a token as the player shows tokens, what a card offers, or a picture. */
export function writeChoice(
  node: HTMLElement,
  { kind, candidates }: Pick<ClassQuestion, "kind" | "candidates">,
  index: number,
  say: Say,
) {
  const choice = candidates[index];
  if (kind === "picture" && isPicture(choice)) writePicture(node, choice, say);
  else if (kind === "card") node.textContent = choice;
  else writeToken(node, choice);
}

function writePicture(node: HTMLElement, picture: Picture, say: Say) {
  const label = say(`picture_${picture}`);
  if (node.firstElementChild?.getAttribute("aria-label") === label) return;
  const look = { class: "small-picture", role: "img", title: label, "aria-label": label };
  node.replaceChildren(element("span", look, ...cells(picture)));
}
