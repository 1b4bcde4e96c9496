import { element } from "./element.ts";
import type { Say } from "./sentences.ts";

/**
 * Buttons that save a picture or a table, behind one that shows them. It closes after a choice, by
 * Escape, and where something else is pressed.
 * @param say of the sentences of the player
 */
export function saveMenu(say: Say, signal: AbortSignal, buttons: HTMLElement[]) {
  const close = () => {
    menu.open = false;
  };
  const menu = element(
    "details",
    { class: "save-menu", testid: "save" },
    element(
      "summary",
      { class: "quiet", title: say("save_title"), "aria-label": say("save") },
      element("span", { class: "icon" }, "⤓"),
      element("span", { class: "word" }, say("save")),
    ),
    element("span", { on: { click: close } }, ...buttons),
  ) as HTMLDetailsElement;
  /** @param event wherever the focus is: a click may leave it on the page */
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    event.preventDefault(); // it closes nothing else
  };
  document.addEventListener("keydown", closeByKey, { signal, capture: true });
  const leave = (event: Event) => {
    if (!event.composedPath().includes(menu)) close();
  };
  document.addEventListener("pointerdown", leave, { signal });
  return menu;
}
