import { context2d, element } from "./element.ts";

/** A drawing that explains itself, on white; px. */
export interface Figure {
  drawing: SVGElement;
  width: number;
  height: number;
}

const SHARPNESS = 3; // pixels of a PNG to one px: 300 dpi where it is printed 16 cm wide

/** Save a file. */
export function saveFile(name: string, contents: Blob) {
  const url = URL.createObjectURL(contents);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * Save a table, with the mark by which spreadsheets know UTF-8.
 * @param table as CSV
 */
export function saveTable(name: string, table: string) {
  saveFile(name, textFile(`\ufeff${table}`, "text/csv"));
}

/**
 * Save a figure as PNG or SVG.
 * @param name without its ending
 */
export async function saveFigure(
  name: string,
  format: "png" | "svg",
  { drawing, width, height }: Figure,
) {
  const source = textFile(new XMLSerializer().serializeToString(drawing), "image/svg+xml");
  saveFile(`${name}.${format}`, format === "svg" ? source : await bitmapOf(source, width, height));
}

/** A text as the contents of a file. */
export function textFile(text: string, type: string) {
  return new Blob([text], { type: `${type};charset=utf-8` });
}

/**
 * A drawing as PNG.
 * @param width px
 * @param height px
 */
async function bitmapOf(source: Blob, width: number, height: number) {
  const picture = new Image();
  picture.src = URL.createObjectURL(source);
  await picture.decode();
  const canvas = element("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return png as Blob;
}
