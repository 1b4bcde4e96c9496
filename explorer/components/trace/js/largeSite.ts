import type { PayloadArray } from "../../page/js/envelope.ts";
import type { HeadOrMethod } from "./contributions.ts";
import type { LoadedHeads, Unit } from "./loadedHeads.ts";
import { FULL_WEIGHT, LARGEST_CODE, MEAN } from "./look.ts";
import type { Site, SiteHeader, SiteName, Trace } from "./trace.ts";

/** The weight codes of a picture's codes, which are linear in the square root of the weight. */
const PICTURE_WEIGHTS = Uint16Array.from(
  { length: LARGEST_CODE + 1 },
  (_, code) => (code / LARGEST_CODE) ** 2 * FULL_WEIGHT,
);

/** Pictures of all heads of a site, or of a part of each. */
export function headPictures(
  [layers, perLayer, queries, keys]: readonly number[], // heads of a layer; rows and columns of a picture
  codes: Uint8Array,
  maskCodes: Uint8Array, // one picture, one a layer, or one a head
): Site["picture"] {
  const area = queries * keys;
  const masks = maskCodes.length / area;
  return (layer, head) => {
    const start = (layer * perLayer + head) * area;
    const mask = masks === 1 ? 0 : masks === layers ? layer : layer * perLayer + head;
    return {
      queries,
      keys,
      weights: new Uint16Array(area).map((_, pixel) => PICTURE_WEIGHTS[codes[start + pixel]]),
      masked: maskCodes.subarray(mask * area, (mask + 1) * area),
    };
  };
}

/**
 * What a site of a large trace has besides its sizes: pictures of all heads, and the weights of
 * those that were loaded.
 * @param pieces of a trace in words, whose pictures are shown until those of words have come
 */
export function largeSite(
  name: SiteName,
  { shape, picture, reasons, gold }: SiteHeader,
  array: (name: string) => PayloadArray | null,
  heads: LoadedHeads,
  pieces: Trace | undefined,
) {
  const unit: Unit = pieces ? "words" : "pieces";
  const codes = array(`${name}.pictures`) as Uint8Array | null;
  const maskCodes = array(`${name}.pictures.closed`) as Uint8Array;
  const own = codes && headPictures([...shape.slice(0, 2), ...(picture ?? [])], codes, maskCodes);
  const nameOf: Site["nameOf"] = (layer, head) =>
    `${unit}/${name}/${layer}/${head === MEAN ? "mean" : head}`;
  return {
    nameOf,
    picture: (own ?? pieces?.sites[name]?.picture) as Site["picture"],
    has: (layer: number, head: HeadOrMethod) => heads.has(nameOf(layer, head)),
    weights: (layer: number, head: HeadOrMethod) => heads.get(nameOf(layer, head)).weights,
    masked: (layer: number, head: HeadOrMethod) => heads.get(nameOf(layer, head)).masked,
    reasons: reasons ?? [],
    gold: gold ?? null,
    drop: () => Number.NaN, // leave-one-out is not offered
  };
}
