import { assign, buttonElement, element } from "../../dom/js/element.ts";
import { placeBeside } from "../../dom/js/explanation.ts";
import { fillIn, type Say, type Strings } from "../../dom/js/sentences.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { allScored, type ListedLesson, lessonItems } from "./lessonItems.ts";

/** What the payload has. */
export interface ListContent {
  language: string;
  strings: Strings;
  lessons: ListedLesson[];
  broken: ListedLesson[]; // files that are no lessons
}

export interface ListListeners {
  onOpen: (name: string) => void; // of a lesson or a broken file
}

/** A button that opens the list of lessons, over the page. */
export function mountList(
  parent: HTMLElement | ShadowRoot,
  content: ListContent,
  listeners: ListListeners,
): View<ListContent, ListListeners> {
  const heard = { ...listeners };
  let shown = content;
  const say: Say = (key, facts) => fillIn(shown.strings, key, facts);
  const panel = element("div", { class: "listed", popover: "auto", testid: "lesson-list" });
  const button = buttonElement(null, { class: "menu", "aria-haspopup": "true" });
  button.popoverTargetElement = panel;
  const root = element("div", { class: "player lesson-list", testid: "lessons" }, button, panel);
  const open = (name: string) => {
    panel.hidePopover();
    heard.onOpen(name);
  };
  const opener = ({ name, title }: ListedLesson) => buttonElement(() => open(name), {}, title);
  const drawItems = () =>
    panel.replaceChildren(
      element("ol", {}, ...lessonItems(shown.lessons, say, opener)),
      ...allScored(say),
      element("ul", { class: "broken" }, ...lessonItems(shown.broken, say, opener)),
    );
  const draw = () => {
    root.lang = shown.language;
    button.textContent = say("menu");
    assign(panel, "aria-label", say("menu"));
    drawItems();
  };
  panel.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "open") drawItems(); // a lesson may be finished since
  });
  panel.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") placeBeside(panel, button);
  });
  draw();
  parent.append(root);
  watchTheme(root);
  return {
    update: (next) => {
      shown = next;
      draw();
    },
    listen: (next) => Object.assign(heard, next),
    destroy: () => root.remove(),
  };
}
