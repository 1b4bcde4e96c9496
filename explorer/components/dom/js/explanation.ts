import { assign, buttonElement, element } from "./element.ts";
import { typeset } from "./mathml.ts";
import type { Say } from "./sentences.ts";
import { WORDS } from "./words.ts";

/** A word that is explained. */
export interface Entry {
  name: string;
  text: string;
  formula?: string; // MathML
  paper?: { name: string; link: string };
  kind?: string; // its class
  picture?: Element;
}

const MARGIN = 8; // px to the edges of the window

/**
 * A button that explains words in place, by click, tap or key, until Escape or a click elsewhere.
 * @param words what a screen reader hears of the button, and of the one that closes
 * @param entries asked for whenever it opens
 */
export function createExplanation(
  testid: string,
  words: { label: string; close: string },
  entries: () => Entry[],
) {
  const { label } = words;
  const panel = createWordsPanel(`${testid}-words`, words, entries);
  const button = buttonElement(
    null,
    { class: "explain", testid, "aria-label": label, title: label },
    "?",
  );
  button.popoverTargetElement = panel;
  panel.addEventListener("toggle", (event) => {
    const open = event.newState === "open";
    assign(button, "aria-expanded", open ? "true" : "false");
    if (open) placeBeside(panel, button);
  });
  return { element: element("span", { class: "explained" }, button, panel), button };
}

/**
 * Words over the page, which close by their button, by Escape and by a click elsewhere.
 * @param entries asked for whenever it opens
 */
export function createWordsPanel(
  testid: string,
  words: { label: string; close: string },
  entries: () => Entry[],
) {
  const panel = element("div", {
    class: "explanation",
    popover: "auto",
    role: "dialog",
    "aria-label": words.label,
    testid,
  });
  const close = buttonElement(null, { class: "close", "aria-label": words.close });
  close.append("×");
  close.popoverTargetElement = panel;
  close.popoverTargetAction = "hide";
  panel.addEventListener("beforetoggle", (event) => {
    if (event.newState === "open") panel.replaceChildren(close, ...entries().map(entryElement));
  });
  return panel;
}

/**
 * The entry of a word whose sentences are `name` and `name`_title.
 * @param say with the sentences of the word
 * @param papers with the sentences of the papers
 */
export function wordEntry(name: string, say: Say, papers: Say = say): Entry {
  const { formula, paper } = WORDS[name] ?? {};
  const known = paper && { name: papers(paper), link: papers(`${paper}_link`) };
  return { name: say(name), text: say(`${name}_title`), formula, ...(known && { paper: known }) };
}

function entryElement({ name, text, formula, paper, kind = "", picture }: Entry) {
  const node = element("section", { class: kind }, element("h3", {}, name));
  if (text) node.append(element("p", {}, text));
  if (picture) node.append(picture);
  if (formula) node.append(element("p", { class: "formula" }, typeset(large(formula))));
  if (paper) {
    const link = { href: paper.link, target: "_blank", rel: "noopener" };
    node.append(element("p", {}, element("a", link, paper.name)));
  }
  return node;
}

/** @param formula in the middle of a line it would be small */
function large(formula: string) {
  return `<mstyle displaystyle="true">${formula}</mstyle>`;
}

/** Put the words beside what opened them, inside the window. */
export function placeBeside(panel: HTMLElement, button: Element) {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const across = Math.min(left, window.innerWidth - width - MARGIN);
  const below = bottom + MARGIN / 2;
  const fits = below + height + MARGIN <= window.innerHeight;
  const above = Math.max(MARGIN, top - height - MARGIN / 2);
  panel.style.left = `${Math.max(MARGIN, across)}px`;
  panel.style.top = `${fits ? below : Math.min(above, window.innerHeight - height - MARGIN)}px`;
}
