import { ofTab, store, stored } from "./browserStorage.ts";

const NAME = "data-projector";

/** Whether the visitor has chosen the larger type, on this page or on one opened before it. */
export function projectorChosen() {
  if (typeof document === "undefined") return false;
  return document.documentElement.hasAttribute(NAME) || stored(NAME, ofTab) !== null;
}

/**
 * Show `root` in larger type or not, and with it the whole page, whose style sheet reads the
 * attribute, and the pages opened after it.
 */
export function showProjector(root: HTMLElement, chosen: boolean) {
  root.classList.toggle("projector", chosen);
  document.documentElement.toggleAttribute(NAME, chosen);
  store(NAME, chosen ? "" : null, ofTab);
}
