import { element } from "./element.ts";
import { createWordsPanel, type Entry, placeBeside, wordEntry } from "./explanation.ts";
import type { Say } from "./sentences.ts";
import { termPicture } from "./termPictures.ts";

/** Names of the technical words, which `strings/glossary.toml` explains. */
export type Term = string;

const TERM = "data-term";
const IDLE = "[data-idle][title]"; // a button that does nothing now, and whose title says why
/** What makes another word of 头, 值 or 键: 开头 箭头, 均值 数值, 关键. */
const OTHER_WORDS = "(?<![\\u5f00\\u7bad\\u5747\\u6570\\u5173])";
const QUOTED = "“[^”]*”"; // the words of a visitor

/** Make an element a term, with a dotted line, or, with null, end that. */
export function markTerm(node: Element, term: Term | null) {
  if (node.getAttribute(TERM) === term) return;
  if (term === null) node.removeAttribute(TERM);
  else node.setAttribute(TERM, term);
}

/** Whether a click there opens the sentence of a term. */
export function isTerm(target: EventTarget | null) {
  return target instanceof Element && target.closest(`[${TERM}]`) !== null;
}

/** Write a text in which the first use of a term, where it has one, is marked. */
export function writeWithTerm(node: Element, text: string, term: Term, say: Say) {
  if (node.textContent === text) return;
  const word = say(term);
  const at = firstUse(text, word);
  if (at < 0) {
    node.textContent = text;
    return;
  }
  const end = at + word.length;
  const marked = element("span", { [TERM]: term }, text.slice(at, end));
  node.replaceChildren(text.slice(0, at), marked, text.slice(end));
}

/** Write a text in which the first use of each of some terms is marked. */
export function writeWithTerms(node: Element, text: string, terms: readonly Term[], say: Say) {
  if (node.textContent === text) return;
  const parts: (string | Element)[] = [];
  let written = 0;
  for (const { term, at, end } of termUses(text, terms, say)) {
    parts.push(text.slice(written, at), element("span", { [TERM]: term }, text.slice(at, end)));
    written = end;
  }
  node.replaceChildren(...parts, text.slice(written));
}

/** Where a text first uses each of some terms, in the plural, too; none lies within another. */
export function termUses(text: string, terms: readonly Term[], say: Say) {
  const uses = terms.flatMap((term) => {
    const [word] = say(term).split(" "); // without a formula: "score q·k"
    const found = [word, `${word}s`].map((form) => ({ term, at: firstUse(text, form), form }));
    return found
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at)
      .slice(0, 1);
  });
  const sorted = uses.map(({ term, at, form }) => ({ term, at, end: at + form.length }));
  sorted.sort((one, other) => one.at - other.at || other.end - one.end);
  return sorted.filter(({ at }, place) => sorted.slice(0, place).every(({ end }) => at >= end));
}

/** Where a text first uses a word outside quotation marks; −1 where it does not. */
export function firstUse(text: string, word: string) {
  const apart = /^\p{Script=Latin}/u.test(word); // other words than Chinese ones have ends
  const [before, after] = apart ? ["(?<!\\p{L})", "(?!\\p{L})"] : [OTHER_WORDS, ""];
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const uses = [...text.matchAll(new RegExp(`${QUOTED}|${before}(${escaped})${after}`, "giu"))];
  return uses.find((found) => found[1] !== undefined)?.index ?? -1;
}

/** What is told of a term. */
export function termEntry(term: Term, say: Say): Entry {
  const picture = termPicture(term);
  return { ...wordEntry(term, say), ...(picture && { picture }) };
}

/** Why a button does nothing now. */
function reasonEntry(button: Element): Entry {
  const name = button.getAttribute("aria-label") ?? button.textContent ?? "";
  return { name, text: button.getAttribute("title") ?? "" };
}

/**
 * Open the sentence of a term by a click or tap on it, which does nothing else; a second one closes
 * it. The Tab key does not stop at terms: those that are on screen stand behind the "?", too. A tap
 * on a button that does nothing now opens why: a finger finds no hover text.
 */
export function explainTerms(root: HTMLElement, say: Say, signal: AbortSignal) {
  let opened: Element | null = null;
  let before: Element | null = null; // what was open when the pointer went down, which closes it
  let shown: HTMLElement | null = null; // the sentence; a browser says later that it has closed
  const show = (node: Element, entry: Entry) => {
    shown?.remove();
    const words = { label: entry.name, close: say("words_close") };
    const panel = createWordsPanel("term-words", words, () => [entry]);
    panel.addEventListener("toggle", ({ newState }) => {
      if (newState === "open") return;
      panel.remove();
      if (opened === node) opened = null;
    });
    root.append(panel);
    panel.showPopover();
    placeBeside(panel, node);
    [opened, shown] = [node, panel];
  };
  const onPress = () => {
    before = opened;
  };
  const onClick = (event: PointerEvent) => {
    const { target, pointerType } = event;
    if (!(target instanceof Element)) return;
    const node = target.closest(`[${TERM}]`);
    const term = node?.getAttribute(TERM);
    const idle = pointerType === "touch" ? target.closest(IDLE) : null;
    const opens = term ? node : idle;
    if (!opens) return;
    event.stopPropagation();
    if (opens !== before) show(opens, term ? termEntry(term, say) : reasonEntry(opens));
  };
  root.addEventListener("pointerdown", onPress, { capture: true, signal });
  root.addEventListener("click", onClick, { capture: true, signal });
}
