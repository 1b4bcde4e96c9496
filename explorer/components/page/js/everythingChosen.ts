/** Whether all controls are shown, as the document and the browser's storage say it. */

import { store, stored } from "./browserStorage.ts";

const SHOWN = "data-everything"; // on the document, for style sheets; in the app from the start
const CHOSEN = "attention-everything"; // in the browser's storage

/** Whether they are shown on this page or, where nothing said so yet, were chosen on one before. */
export function chosenBefore() {
  if (typeof document === "undefined") return true;
  return document.documentElement.hasAttribute(SHOWN) || stored(CHOSEN) !== null;
}

/** Show on this page what its address names, or what was chosen on one before. */
export function showChosen() {
  const named = new URLSearchParams(location.search).get("everything") === "1";
  markDocument(named || stored(CHOSEN) !== null);
}

export function markDocument(shown: boolean) {
  document.documentElement.toggleAttribute(SHOWN, shown);
}

/** The next visit begins with what was chosen. */
export function choose(shown: boolean) {
  store(CHOSEN, shown ? "" : null);
}
