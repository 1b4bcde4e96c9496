import type { Palette } from "../../page/js/palette.ts";
import type { Picture, Site } from "../../trace/js/trace.ts";
import { bitmap, paint, paintHairlined } from "./bitmap.ts";
import { HAIRLINED } from "./pattern.ts";

/** px */
export interface ThumbnailSize {
  unit: number; // of a cell
  width: number;
  height: number;
}

const WORTH_WHOLE = 0.9; // of the size; cells of different sizes are seen less than a smaller picture
export const SMALLEST_THUMBNAIL = 26; // px; a narrower one leaves no space for the head's name

/**
 * The size of a thumbnail whose longer side is about `edge`: whole device pixels a cell where that
 * costs little of the size; a side of fewer than `smallest` px is stretched.
 */
export function thumbnailSize(
  edge: number,
  site: Pick<Site, "queries" | "keys">,
  smallest: number,
): ThumbnailSize {
  const ratio = window.devicePixelRatio || 1;
  const exact = edge / Math.max(site.queries, site.keys);
  const whole = Math.floor(exact * ratio) / ratio;
  const unit = whole >= exact * WORTH_WHOLE ? whole : exact;
  return {
    unit,
    width: Math.max(Math.round(unit * site.keys * 100) / 100, smallest),
    height: Math.max(Math.round(unit * site.queries * 100) / 100, smallest),
  };
}

/** The device pixels of a thumbnail that has fewer of them than cells, across and down. */
export function shrunkTo({ unit, width, height }: ThumbnailSize): number[] | null {
  const ratio = window.devicePixelRatio || 1;
  if (unit * ratio >= 1) return null;
  return [width, height].map((length) => Math.max(1, Math.round(length * ratio)));
}

/** How a thumbnail is painted. */
interface ThumbnailLook {
  size: ThumbnailSize;
  palette: Palette;
  tone: Float32Array; // of its weights
  removed: boolean; // whether the head is removed, so that its weights have no effect
}

/**
 * Paint one head, shrunk where the thumbnail has fewer device pixels than cells, or cross it out.
 */
export function paintThumbnail(
  canvas: HTMLCanvasElement,
  picture: Picture,
  { size, palette, tone, removed }: ThumbnailLook,
) {
  canvas.classList.toggle("crossed", removed);
  if (removed) {
    canvas.width = 1; // which clears it; the style sheet draws the cross
    return;
  }
  const [across, down] = shrunkTo(size) ?? [Infinity, Infinity];
  const pixels = [Math.min(picture.queries, down), Math.min(picture.keys, across)];
  const image = bitmap(palette, { ...picture, tone }, pixels);
  const cell = Math.min(size.width / picture.keys, size.height / picture.queries);
  if (cell > HAIRLINED) paintHairlined(canvas, image, size, palette.paper);
  else paint(canvas, image);
}
