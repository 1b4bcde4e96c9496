import { LARGEST_CODE } from "./look.js";
import { FULL_WEIGHT, MEAN } from "./trace.js";

/** @import { PayloadArray } from "./envelope.js" */
/** @import { LoadedHeads, Unit } from "./loadedHeads.js" */
/** @import { Picture, Site, SiteHeader } from "./trace.js" */

/**
 * What a site of a large trace has besides its sizes: pictures of all heads, and the weights of
 * those that were loaded.
 * @param {string} name
 * @param {SiteHeader} header
 * @param {(name: string) => PayloadArray | null} array
 * @param {LoadedHeads} heads
 * @param {Unit} unit
 */
export function largeSite(name, { shape, picture, reasons, gold }, array, heads, unit) {
  const [layers, perLayer] = shape;
  const [queries, keys] = picture ?? [0, 0];
  const area = queries * keys;
  const codes = /** @type {Uint8Array} */ (array(`${name}.pictures`));
  const maskCodes = /** @type {Uint8Array} */ (array(`${name}.pictures.closed`));
  const masks = maskCodes.length / area; // one, one a layer, or one a head
  /** @type {Site["nameOf"]} */
  const nameOf = (layer, head) => `${unit}/${name}/${layer}/${head === MEAN ? "mean" : head}`;
  /** @type {(layer: number, head: number) => Picture} */
  const pictureOf = (layer, head) => {
    const start = (layer * perLayer + head) * area;
    const mask = masks === 1 ? 0 : masks === layers ? layer : layer * perLayer + head;
    return {
      queries,
      keys,
      weights: Uint16Array.from(
        codes.subarray(start, start + area),
        (code) => (code / LARGEST_CODE) ** 2 * FULL_WEIGHT,
      ),
      masked: maskCodes.subarray(mask * area, (mask + 1) * area),
    };
  };
  return {
    nameOf,
    picture: pictureOf,
    /** @type {Site["has"]} */
    has: (layer, head) => heads.has(nameOf(layer, head)),
    /** @type {Site["weights"]} */
    weights: (layer, head) => heads.get(nameOf(layer, head)).weights,
    /** @type {Site["masked"]} */
    masked: (layer, head) => heads.get(nameOf(layer, head)).masked,
    reasons: reasons ?? [],
    gold: gold ?? null,
    drop: () => Number.NaN, // leave-one-out is not offered
  };
}
