import { element, populate } from "../../shared/js/element.js";
import { labelOf, writeToken } from "../../shared/js/label.js";

/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Asked } from "./classroom.js" */

/**
 * What the class is asked.
 * @param {Asked} asked
 * @param {Say} say
 */
export function questionText({ kind, head, tokens, prompt }, say) {
  if (kind === "card") return prompt;
  if (kind === "token") return say("asked");
  return say("asked_key", { head, query: labelOf(tokens.at(-1) ?? "") });
}

/**
 * The known tokens and the next one, where that is asked: a question mark until the reveal.
 * @param {HTMLElement} parent
 * @param {Asked} asked
 */
export function writeKnown(parent, { kind, tokens, candidates, answer }) {
  parent.hidden = kind !== "token";
  const nodes = populate(parent, tokens.length + 1, () => element("bdi", { class: "chip token" }));
  tokens.forEach((token, index) => {
    writeToken(nodes[index], token);
  });
  writeToken(nodes[tokens.length], candidates[answer ?? -1] ?? "?");
}

/**
 * Empty an element that shows the choices of another question.
 * @param {HTMLElement} parent
 * @param {number} number of the question
 */
export function renewFor(parent, number) {
  if (parent.dataset.number === String(number)) return;
  parent.dataset.number = String(number);
  parent.replaceChildren();
}

/**
 * Which place a key has, from 1, where another choice is the same token; else "".
 * @param {Pick<Asked, "candidates" | "positions">} asked
 * @param {number} index
 * @param {Say} say
 */
export function placeOf({ candidates, positions }, index, say) {
  const twice = candidates.filter((token) => token === candidates[index]).length > 1;
  return twice && index in positions ? say("place", { number: positions[index] + 1 }) : "";
}

/**
 * Write a choice: a token as the player shows tokens, or what a card offers.
 * @param {HTMLElement} node
 * @param {Pick<Asked, "kind" | "candidates">} asked
 * @param {number} index
 */
export function writeChoice(node, { kind, candidates }, index) {
  if (kind === "card") node.textContent = candidates[index];
  else writeToken(node, candidates[index]);
}
