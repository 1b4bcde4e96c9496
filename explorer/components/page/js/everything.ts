/**
 * Simple shows what a first look needs, Everything all controls and numbers. The page has one switch;
 * what is chosen with it is remembered, and the style sheets read it from the document. Lessons are
 * always simple.
 */

import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { whenever } from "../../dom/js/store.ts";
import { choose, markDocument } from "./everythingChosen.ts";
import { onPage, setOnPage } from "./onPage.ts";

export function showEverything(shown: boolean) {
  setOnPage({ everything: shown });
  markDocument(shown);
}

/** Let the style sheet of `root` hide what Simple leaves out. */
export function watchEverything(root: HTMLElement, signal: AbortSignal, onChange: () => void) {
  whenever(() => {
    root.toggleAttribute("data-simple", !onPage.everything);
    onChange();
  }, signal);
}

/** The switch, whose choice the next visit begins with. */
export function createEverythingSwitch(say: Say, signal: AbortSignal) {
  const press = () => {
    const wanted = !onPage.everything;
    choose(wanted);
    showEverything(wanted);
  };
  const word = element("span", { class: "word" });
  const names = { class: "quiet everything", testid: "everything", title: say("everything_title") };
  const button = buttonElement(press, names, word);
  whenever(() => {
    const label = say(onPage.everything ? "less" : "everything");
    write(word, label);
    assign(button, "aria-label", label);
  }, signal);
  return button;
}
