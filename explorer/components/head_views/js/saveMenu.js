import { element } from "../../shared/js/element.js";
import { figureButtons } from "../../shared/js/figureButtons.js";

/** @import { ViewFrame } from "./viewFrame.js" */

/**
 * The buttons that save a figure, behind one that shows them.
 * @param {Pick<ViewFrame, "say">} frame
 * @param {(key: string) => string} sayOfPlayer
 * @param {Parameters<typeof figureButtons>[1]} saving
 */
export function saveMenu({ say }, sayOfPlayer, saving) {
  return element(
    "details",
    { class: "save-figure", testid: "save-figure" },
    element("summary", { class: "quiet" }, say("save_figure")),
    element("span", {}, ...figureButtons(sayOfPlayer, saving)),
  );
}
