import { element } from "../../dom/js/element.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import { readEnvelope } from "./envelope.ts";
import { createEverythingSwitch } from "./everything.ts";
import { streamlitComponent } from "./streamlitComponent.ts";
import { watchTheme } from "./watchers.ts";

interface Content {
  language: string;
  strings: Strings;
}

/** The switch of a page between Simple and Everything, as a Streamlit component. */
export default streamlitComponent({
  read: (bytes: Uint8Array): Content => readEnvelope<Content>(bytes).header,
  identity: ({ language }) => language,
  listeners: () => ({}),
  open: (parent, { language, strings }) => {
    const ended = new AbortController();
    const root = element("div", { class: "player switch", lang: language });
    parent.append(root);
    watchTheme(root, () => {});
    root.append(createEverythingSwitch((key) => fillIn(strings, key), ended.signal));
    const destroy = () => {
      ended.abort();
      root.remove();
    };
    return { update: () => {}, listen: () => {}, destroy };
  },
});
