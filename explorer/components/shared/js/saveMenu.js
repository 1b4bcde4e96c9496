import { element } from "./element.js";

/** @import { Say } from "./sentences.js" */

/**
 * Buttons that save a picture or a table, behind one that shows them. It closes after a choice, by
 * Escape, and where something else is pressed.
 * @param {Say} say of the sentences of the player
 * @param {AbortSignal} signal
 * @param {HTMLElement[]} buttons
 */
export function saveMenu(say, signal, buttons) {
  const close = () => {
    menu.open = false;
  };
  const menu = /** @type {HTMLDetailsElement} */ (
    element(
      "details",
      { class: "save-menu", testid: "save" },
      element(
        "summary",
        { class: "quiet", title: say("save_title"), "aria-label": say("save") },
        element("span", { class: "icon" }, "⤓"),
        element("span", { class: "word" }, say("save")),
      ),
      element("span", { on: { click: close } }, ...buttons),
    )
  );
  /** @param {KeyboardEvent} event wherever the focus is: a click may leave it on the page */
  const closeByKey = (event) => {
    if (event.key === "Escape") close();
  };
  document.addEventListener("keydown", closeByKey, { signal, capture: true });
  /** @param {Event} event */
  const leave = (event) => {
    if (!event.composedPath().includes(menu)) close();
  };
  document.addEventListener("pointerdown", leave, { signal });
  return menu;
}
