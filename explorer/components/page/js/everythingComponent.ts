import { element } from "../../dom/js/element.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import { createEverythingSwitch } from "./everything.ts";
import { watchTheme } from "./watchers.ts";

interface Call {
  parentElement: HTMLElement | ShadowRoot;
  data: { language: string; strings: Strings };
}

/** What removes the switch of a place, and its language. */
const mounted: WeakMap<object, { language: string; end: () => void }> = new WeakMap();

/**
 * The switch of a page between Simple and Everything, as a Streamlit component. Streamlit calls it
 * again where the theme changes: the switch stays.
 */
export default function ({ parentElement: parent, data: { language, strings } }: Call) {
  const known = mounted.get(parent);
  if (known?.language === language) return known.end;
  known?.end();
  const ended = new AbortController();
  const root = element("div", { class: "player switch", lang: language });
  parent.append(root);
  watchTheme(root, () => {});
  root.append(createEverythingSwitch((key) => fillIn(strings, key), ended.signal));
  const end = () => {
    ended.abort();
    root.remove();
    mounted.delete(parent);
  };
  mounted.set(parent, { language, end });
  return end;
}
