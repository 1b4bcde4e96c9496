import { element } from "./element.js";

/** @import { Say } from "./sentences.js" */

/**
 * Buttons that save a picture or a table, behind one that shows them. It closes after a choice, by
 * Escape, and where something else is pressed.
 * @param {Say} say of the sentences of the player
 * @param {AbortSignal} signal
 * @param {HTMLElement[]} buttons
 * @param {"save" | "inside_save"} [name] of its sentences and test id
 */
export function saveMenu(say, signal, buttons, name = "save") {
  const close = () => {
    menu.open = false;
  };
  const menu = /** @type {HTMLDetailsElement} */ (
    element(
      "details",
      { class: "save-menu", testid: name },
      element(
        "summary",
        { class: "quiet", title: say(`${name}_title`), "aria-label": say(name) },
        element("span", { class: "icon" }, "⤓"),
        element("span", { class: "word" }, say(name)),
      ),
      element("span", { on: { click: close } }, ...buttons),
    )
  );
  /** @param {KeyboardEvent} event wherever the focus is: a click may leave it on the page */
  const closeByKey = (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    event.preventDefault(); // it closes nothing else
  };
  document.addEventListener("keydown", closeByKey, { signal, capture: true });
  /** @param {Event} event */
  const leave = (event) => {
    if (!event.composedPath().includes(menu)) close();
  };
  document.addEventListener("pointerdown", leave, { signal });
  return menu;
}
