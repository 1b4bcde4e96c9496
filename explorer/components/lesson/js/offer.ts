import { buttonElement, element } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import type { Content, Listeners } from "./content.ts";

const SEEN = "attention-lesson-offered";

/** Offer the first lesson, once for each browser. */
export function mountOffer(
  parent: HTMLElement | ShadowRoot,
  content: Content,
  listeners: Listeners,
): View<Content, Listeners> {
  const heard = { ...listeners };
  const root = element("aside", { class: "player lesson offer", testid: "lesson-offer" });
  const offers = firstVisit();
  const draw = ({ language, strings, offer }: Content) => {
    root.lang = language;
    const start = fillIn(strings, "offer_start", { title: offer?.title });
    const begin = () => heard.onStart(offer?.name ?? "");
    root.replaceChildren(
      element("span", {}, strings.offer),
      buttonElement(begin, { testid: "lesson-start" }, start),
      buttonElement(() => root.remove(), { testid: "lesson-dismiss" }, strings.offer_close),
    );
  };
  if (offers) {
    parent.append(root);
    draw(content);
    watchTheme(root);
  }
  return {
    update: (next) => {
      if (root.isConnected) draw(next);
    },
    listen: (next) => Object.assign(heard, next),
    destroy: () => root.remove(),
  };
}

/** Whether nothing was offered in this browser yet; from now on, it was. */
function firstVisit() {
  try {
    const first = localStorage.getItem(SEEN) === null;
    localStorage.setItem(SEEN, "");
    return first;
  } catch {
    return false; // without storage it would be offered for ever
  }
}
