import { element } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { projectorChosen, showProjector } from "../../page/js/projector.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { readViewPayload, type ViewPayload } from "./viewPayload.ts";

/** Words of a page of Streamlit's own elements, such as a table, as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: ({ header }) => `${header.language} ${header.words}`,
  listeners: () => ({}),
  open: openWords,
});

/** A button that opens what the words in a table mean. */
function openWords(
  parent: HTMLElement | ShadowRoot,
  { header }: ViewPayload,
): View<ViewPayload, object> {
  const { words = [], label = "", language, strings, player_strings } = header;
  const root = element("div", { class: "player words", lang: language });
  parent.append(root);
  watchTheme(root);
  showProjector(root, projectorChosen());
  const own = (key: string) => fillIn(strings, key);
  const papers = (key: string) => fillIn(player_strings, key);
  const labels = { label, close: papers("words_close") };
  const explanation = createExplanation("table-words", labels, () =>
    words.map((name) => wordEntry(name, own, papers)),
  );
  root.append(explanation.element);
  return { update: () => {}, listen: () => {}, destroy: () => root.remove() };
}
