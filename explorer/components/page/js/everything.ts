/**
 * Simple shows what a first look needs, Everything all controls and numbers. The page has one switch;
 * what is chosen with it is remembered, and the style sheets read it from the document. Lessons are
 * always simple.
 */

import { assign, buttonElement, element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { store, stored } from "./browserStorage.ts";
import { channel } from "./channel.ts";

const SHOWN = "data-everything"; // on the document; in the app `everythingStart.ts` sets it at first
const CHOSEN = "attention-everything"; // in the browser's storage

const changed = channel("explorer-everything");
export const onEverything = changed.hear;

/** Whether it is shown on this page or, where nothing said so yet, was chosen on one before. */
export function everythingShown() {
  if (typeof document === "undefined") return true;
  return document.documentElement.hasAttribute(SHOWN) || stored(CHOSEN) !== null;
}

/** Show on this page what its address names, or what was chosen on one before. */
export function showChosen() {
  const named = new URLSearchParams(location.search).get("everything") === "1";
  document.documentElement.toggleAttribute(SHOWN, named || stored(CHOSEN) !== null);
}

export function showEverything(shown: boolean) {
  const { documentElement: page } = document;
  if (shown === page.hasAttribute(SHOWN)) return;
  page.toggleAttribute(SHOWN, shown);
  changed.tell();
}

/** Let the style sheet of `root` hide what Simple leaves out. */
export function watchEverything(root: HTMLElement, signal: AbortSignal, onChange: () => void) {
  const mark = () => root.toggleAttribute("data-simple", !everythingShown());
  onEverything(() => {
    mark();
    onChange();
  }, signal);
  mark();
}

/** The switch, whose choice the next visit begins with. */
export function createEverythingSwitch(say: Say, signal: AbortSignal) {
  const press = () => {
    const wanted = !everythingShown();
    store(CHOSEN, wanted ? "" : null);
    showEverything(wanted);
  };
  const label = say("everything");
  const names = { testid: "everything", title: say("everything_title"), "aria-label": label };
  const button = buttonElement(
    press,
    { class: "quiet everything", ...names },
    element("span", { class: "word" }, label),
  );
  const mark = () => assign(button, "aria-pressed", String(everythingShown()));
  onEverything(mark, signal);
  mark();
  return button;
}
