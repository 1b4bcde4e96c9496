import { element, populate } from "../../shared/js/element.js";
import { isGold } from "../../shared/js/headScores.js";
import { siteOf } from "../../shared/js/stepState.js";

/** @import { Site, Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * Ring the gold cells in every picture of the cross-attention.
 * @param {TraceContext} context
 * @param {HTMLElement} box
 * @param {HTMLElement} key explanation, hidden without rings
 */
export function drawGoldRings(context, box, key) {
  const site = siteOf(context);
  const rings = site.name === "cross" ? goldCells(context.trace, site) : [];
  key.hidden = rings.length === 0;
  for (const picture of box.querySelectorAll(".heads .picture")) placeRings(picture, rings, site);
  const clip = box.querySelector(".map .clip");
  if (clip) placeRings(clip, context.state.zoomed ? [] : rings, site);
}

/**
 * Query and key of every gold cell.
 * @param {Trace} trace
 * @param {Site} site
 * @returns {[number, number][]}
 */
export function goldCells(trace, site) {
  /** @type {[number, number][]} */
  const cells = [];
  for (let query = 0; query < site.queries; query += 1) {
    for (let key = 0; key < site.keys; key += 1)
      if (isGold(trace, query, key)) cells.push([query, key]);
  }
  return cells;
}

/**
 * Put rings on a picture that shows the whole matrix.
 * @param {Element} picture
 * @param {[number, number][]} cells
 * @param {Site} site
 */
function placeRings(picture, cells, site) {
  const known = picture.querySelector(".rings");
  const layer =
    known instanceof HTMLElement
      ? known
      : element("span", { class: "rings", "aria-hidden": "true" });
  if (!known) picture.append(layer);
  const rings = populate(layer, cells.length, () => element("b", { class: "ring" }));
  cells.forEach(([query, key], index) => {
    Object.assign(rings[index].style, {
      left: `${(100 * key) / site.keys}%`,
      top: `${(100 * query) / site.queries}%`,
      width: `${100 / site.keys}%`,
      height: `${100 / site.queries}%`,
    });
  });
}
