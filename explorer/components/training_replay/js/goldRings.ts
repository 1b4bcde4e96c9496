import { element, populate } from "../../dom/js/element.ts";
import { isGold } from "../../trace/js/headScores.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { Site, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/**
 * Ring the gold cells in every picture.
 * @param key explanation, hidden without rings
 */
export function drawGoldRings(context: TraceContext, box: HTMLElement, key: HTMLElement) {
  const site = siteOf(context);
  const rings = goldCells(context.trace, site);
  key.hidden = rings.length === 0;
  for (const picture of box.querySelectorAll(".heads .picture")) placeRings(picture, rings, site);
  const clip = box.querySelector(".map .clip");
  if (clip) placeRings(clip, context.state.zoom ? [] : rings, site);
}

/** Query and key of every gold cell. */
function goldCells(trace: Trace, site: Site): [number, number][] {
  const cells: [number, number][] = [];
  for (let query = 0; query < site.queries; query += 1) {
    for (let key = 0; key < site.keys; key += 1)
      if (isGold(trace, site, query, key)) cells.push([query, key]);
  }
  return cells;
}

/** Put rings on a picture that shows the whole matrix. */
function placeRings(picture: Element, cells: [number, number][], site: Site) {
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
