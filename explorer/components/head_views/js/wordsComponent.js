import { element } from "../../shared/js/element.js";
import { createExplanation, wordEntry } from "../../shared/js/explanation.js";
import { projectorChosen, showProjector } from "../../shared/js/projector.js";
import { fillIn } from "../../shared/js/sentences.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { watchTheme } from "../../shared/js/watchers.js";
import { readViewPayload } from "./viewPayload.js";

/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { ViewPayload } from "./viewPayload.js" */

/** Words of a page of Streamlit's own elements, such as a table, as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: ({ header }) => `${header.language} ${header.words}`,
  listeners: () => ({}),
  open: openWords,
});

/**
 * A button that opens what the words in a table mean.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @returns {View<ViewPayload, object>}
 */
function openWords(parent, { header }) {
  const { words = [], label = "", language, strings, player_strings } = header;
  const root = element("div", { class: "player words", lang: language });
  parent.append(root);
  watchTheme(root, () => {});
  showProjector(root, projectorChosen());
  /** @type {(key: string) => string} */
  const own = (key) => fillIn(strings, key);
  /** @type {(key: string) => string} */
  const papers = (key) => fillIn(player_strings, key);
  const labels = { label, close: papers("words_close") };
  const explanation = createExplanation("table-words", labels, () =>
    words.map((name) => wordEntry(name, own, papers)),
  );
  root.append(explanation.element);
  return { update: () => {}, listen: () => {}, destroy: () => root.remove() };
}
