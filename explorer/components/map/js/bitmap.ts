import { context2d } from "../../dom/js/element.ts";
import { type Colour, css, LEVELS, type Palette } from "../../page/js/palette.ts";
import type { Site } from "../../trace/js/trace.ts";

/** What is painted of a head, row by row. */
export interface PaintedCells extends Pick<Site, "queries" | "keys"> {
  tone: Float32Array; // 0..1
  masked: Uint8Array; // codes
}

/**
 * One head as pixels, masked cells in their greys.
 *
 * With fewer pixels than cells a pixel shows the largest tone it covers: a mean would wash out
 * thin diagonals.
 * @param pixels down and across; else one a cell
 */
export function bitmap(
  palette: Pick<Palette, "ramp" | "masked">,
  { tone, masked, queries, keys }: PaintedCells,
  [rows, columns]: number[] = [queries, keys],
) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const ramp = palette.ramp.map(pixel);
  const greys = palette.masked.map((colour) => (colour ? pixel(colour) : 0));
  const rowOf = Array.from({ length: queries }, (_, row) => Math.floor((row * rows) / queries));
  const columnOf = Array.from({ length: keys }, (_, key) => Math.floor((key * columns) / keys));
  const reasons = greys.length; // below zero: mask code − reasons
  const best = new Float32Array(rows * columns).fill(-reasons);
  for (let query = 0, cell = 0; query < queries; query += 1) {
    const start = rowOf[query] * columns;
    for (let key = 0; key < keys; key += 1, cell += 1) {
      const index = start + columnOf[key];
      const value = masked[cell] ? masked[cell] - reasons : tone[cell];
      if (value > best[index]) best[index] = value;
    }
  }
  for (let index = 0; index < best.length; index += 1) {
    const value = best[index];
    pixels[index] = value < 0 ? greys[value + reasons] : ramp[Math.round(value * (LEVELS - 1))];
  }
  return image;
}

/**
 * A colour as the 32 bits of an opaque pixel (little-endian, as on every platform with a browser).
 */
function pixel([red, green, blue]: Colour) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Put an image on a canvas of its size. */
export function paint(canvas: HTMLCanvasElement, image: ImageData) {
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  context2d(canvas).putImageData(image, 0, 0);
}

/**
 * As `paint`, enlarged to px of the page, with a hairline between the pixels of the image: two
 * neighbours of one colour are seen as two.
 * @param size of the canvas, px
 */
export function paintHairlined(
  canvas: HTMLCanvasElement,
  image: ImageData,
  size: { width: number; height: number },
  line: Colour,
) {
  const ratio = window.devicePixelRatio || 1;
  const small = document.createElement("canvas");
  paint(small, image);
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  const pen = context2d(canvas);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  pen.fillStyle = css(line);
  const thick = Math.max(1, Math.round(ratio));
  for (let column = 1; column < image.width; column += 1)
    pen.fillRect(Math.round((column * canvas.width) / image.width), 0, thick, canvas.height);
  for (let row = 1; row < image.height; row += 1)
    pen.fillRect(0, Math.round((row * canvas.height) / image.height), canvas.width, thick);
}

/** Paint a colour ramp as a bar, one pixel a level. */
export function paintRamp(bar: HTMLCanvasElement, ramp: Colour[]) {
  const image = new ImageData(ramp.length, 1);
  ramp.forEach((colour, level) => {
    image.data.set([...colour, 255], level * 4);
  });
  paint(bar, image);
}
