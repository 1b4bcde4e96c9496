import { assign, element } from "./element.js";
import { typeset } from "./mathml.js";
import { WORDS } from "./words.js";

/** @import { Say } from "./sentences.js" */

/**
 * @typedef {object} Entry a word that is explained
 * @property {string} name
 * @property {string} text
 * @property {string} [formula] MathML
 * @property {{name: string, link: string}} [paper]
 * @property {string} [kind] its class
 *
 * @typedef {object} Explanation a button, and the words that it opens in place
 * @property {HTMLElement} element
 * @property {HTMLButtonElement} button
 */

const MARGIN = 8; // px to the edges of the window

/**
 * A button that explains words in place, by click, tap or key, until Escape or a click elsewhere.
 * @param {string} testid
 * @param {{label: string, close: string}} words what a screen reader hears of the button, and of the
 *   one that closes
 * @param {() => Entry[]} entries asked for whenever it opens
 * @returns {Explanation}
 */
export function createExplanation(testid, words, entries) {
  const { label } = words;
  const panel = element("div", {
    class: "explanation",
    popover: "auto",
    role: "dialog",
    "aria-label": label,
    testid: `${testid}-words`,
  });
  const button = element(
    "button",
    { type: "button", class: "explain", testid, "aria-label": label, title: label },
    "?",
  );
  button.popoverTargetElement = panel;
  const close = element("button", { type: "button", class: "close", "aria-label": words.close });
  close.append("×");
  close.popoverTargetElement = panel;
  close.popoverTargetAction = "hide";
  panel.addEventListener("beforetoggle", (event) => {
    if (event.newState === "open") panel.replaceChildren(close, ...entries().map(entryElement));
  });
  panel.addEventListener("toggle", (event) => {
    const open = event.newState === "open";
    assign(button, "aria-expanded", open ? "true" : "false");
    if (open) place(panel, button);
  });
  return { element: element("span", { class: "explained" }, button, panel), button };
}

/**
 * The entry of a word whose sentences are `name` and `name`_title.
 * @param {string} name
 * @param {Say} say with the sentences of the word
 * @param {Say} papers with the sentences of the papers
 * @returns {Entry}
 */
export function wordEntry(name, say, papers = say) {
  const { formula, paper } = WORDS[name] ?? {};
  const known = paper && { name: papers(paper), link: papers(`${paper}_link`) };
  return { name: say(name), text: say(`${name}_title`), formula, ...(known && { paper: known }) };
}

/** @param {Entry} entry */
function entryElement({ name, text, formula, paper, kind = "" }) {
  const node = element("section", { class: kind }, element("h3", {}, name));
  if (text) node.append(element("p", {}, text));
  if (formula) node.append(element("p", { class: "formula" }, typeset(large(formula))));
  if (paper) {
    const link = { href: paper.link, target: "_blank", rel: "noopener" };
    node.append(element("p", {}, element("a", link, paper.name)));
  }
  return node;
}

/** @param {string} formula in the middle of a line it would be small */
function large(formula) {
  return `<mstyle displaystyle="true">${formula}</mstyle>`;
}

/**
 * Put the words beside their button, inside the window.
 * @param {HTMLElement} panel
 * @param {HTMLElement} button
 */
function place(panel, button) {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const across = Math.min(left, window.innerWidth - width - MARGIN);
  const below = bottom + MARGIN / 2;
  const fits = below + height + MARGIN <= window.innerHeight;
  const above = Math.max(MARGIN, top - height - MARGIN / 2);
  panel.style.left = `${Math.max(MARGIN, across)}px`;
  panel.style.top = `${fits ? below : Math.min(above, window.innerHeight - height - MARGIN)}px`;
}
