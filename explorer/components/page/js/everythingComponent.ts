import { element } from "../../dom/js/element.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import { createEverythingSwitch } from "./everything.ts";
import { watchTheme } from "./watchers.ts";

interface Call {
  parentElement: HTMLElement | ShadowRoot;
  data: { language: string; strings: Strings };
}

/** The switch of a page between Simple and Everything, as a Streamlit component. */
export default function ({ parentElement: parent, data: { language, strings } }: Call) {
  const ended = new AbortController();
  const root = element("div", { class: "player switch", lang: language });
  parent.append(root);
  watchTheme(root, () => {});
  root.append(createEverythingSwitch((key) => fillIn(strings, key), ended.signal));
  return () => {
    ended.abort();
    root.remove();
  };
}
