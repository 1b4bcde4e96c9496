import { context2d, element } from "./element.js";

/**
 * @typedef {object} Figure a drawing that explains itself, on white; px
 * @property {SVGElement} drawing
 * @property {number} width
 * @property {number} height
 */

const SHARPNESS = 3; // pixels of a PNG to one px: 300 dpi where it is printed 16 cm wide

/**
 * Save a file.
 * @param {string} name
 * @param {Blob} contents
 */
export function saveFile(name, contents) {
  const url = URL.createObjectURL(contents);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * Save a table, with the mark by which spreadsheets know UTF-8.
 * @param {string} name
 * @param {string} table as CSV
 */
export function saveTable(name, table) {
  saveFile(name, textFile(`\ufeff${table}`, "text/csv"));
}

/**
 * Save a figure as PNG or SVG.
 * @param {string} name without its ending
 * @param {"png" | "svg"} format
 * @param {Figure} figure
 */
export async function saveFigure(name, format, { drawing, width, height }) {
  const source = textFile(new XMLSerializer().serializeToString(drawing), "image/svg+xml");
  saveFile(`${name}.${format}`, format === "svg" ? source : await bitmapOf(source, width, height));
}

/**
 * A text as the contents of a file.
 * @param {string} text
 * @param {string} type
 */
export function textFile(text, type) {
  return new Blob([text], { type: `${type};charset=utf-8` });
}

/**
 * A drawing as PNG.
 * @param {Blob} source
 * @param {number} width px
 * @param {number} height px
 */
async function bitmapOf(source, width, height) {
  const picture = new Image();
  picture.src = URL.createObjectURL(source);
  await picture.decode();
  const canvas = element("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return /** @type {Blob} */ (png);
}
