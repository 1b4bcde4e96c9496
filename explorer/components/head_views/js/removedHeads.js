import { element, write } from "../../shared/js/element.js";
import { anyOf } from "../../shared/js/store.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { ViewFrame } from "./viewFrame.js" */

/**
 * Mark the heads that the interventions remove: their thumbnails, and a map while it shows one.
 * @param {TraceContext} context whose head is shown
 * @param {ViewFrame} frame
 * @param {HTMLElement} rail with the thumbnails
 * @param {HTMLElement} column with the map
 * @returns {Part} a note on how the head's output is replaced
 */
export function createRemovedHeads(context, frame, rail, column) {
  const note = element("span", { class: "removed-note", testid: "removed-note" });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "trace", "site", "layer", "head", "size", "scale")) return;
    const { site, layer, head } = context.state;
    const removed = frame.payload.header.removed?.[site] ?? [];
    const shown = removed.find(([itsLayer, itsHead]) => itsLayer === layer && itsHead === head);
    column.classList.toggle("removed", shown !== undefined);
    write(note, shown ? frame.say(`removed_${shown[2]}`) : "");
    const names = new Set(removed.map(([itsLayer, itsHead]) => `head-${itsLayer}-${itsHead}`));
    for (const node of rail.querySelectorAll(".thumbnail"))
      node.classList.toggle(
        "removed",
        names.has(/** @type {HTMLElement} */ (node).dataset.testid ?? ""),
      );
  };
  return { element: note, update };
}
