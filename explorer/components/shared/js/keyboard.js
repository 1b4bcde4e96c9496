/** @import { Move } from "./actions.js" */

/** @type {Record<string, Move>} */
const KEY_MOVES = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  Home: "first",
  End: "last",
  " ": "play",
};
const USES_ARROWS =
  "input:not([type=checkbox]), textarea, select, [contenteditable]:not([contenteditable=false]), " +
  "[role=slider], [role=textbox], [role=combobox], [role=listbox], [role=menu], [role=tab]";
const USES_SPACE = "button, input, a[href], summary, [role=button], [role=radio], [role=checkbox]";

/**
 * ← → Home End, space and P, unless the focused element uses them itself.
 * @param {object} component
 * @param {HTMLElement} component.root
 * @param {AbortSignal} component.signal
 * @param {Record<Move, () => void>} component.act
 * @param {() => void} toggleProjector
 */
export function listenToKeys({ root, signal, act }, toggleProjector) {
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!root.isConnected || root.getClientRects().length === 0) return;
    const [target] = event.composedPath();
    /** @param {string} selector */
    const within = (selector) => target instanceof Element && target.closest(selector) !== null;
    if (within(USES_ARROWS)) return;
    if (event.key === "p" || event.key === "P") {
      toggleProjector();
      return;
    }
    const move = KEY_MOVES[event.key];
    if (!move || (event.key === " " && within(USES_SPACE))) return;
    event.preventDefault();
    act[move]();
  };
  document.addEventListener("keydown", onKey, { signal });
}
