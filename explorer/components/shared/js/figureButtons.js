import { element } from "./element.js";
import { WIDTHS } from "./figureText.js";
import { saveFigure } from "./savedFile.js";

/** @import { Figure } from "./savedFile.js" */

/** @type {["png" | "svg" | "svg_column", "png" | "svg", keyof typeof WIDTHS][]} */
const CHOICES = [
  ["png", "png", "both"],
  ["svg", "svg", "both"],
  ["svg_column", "svg", "one"],
];

/** Of the names of files that are saved in several widths. */
const ENDINGS = { both: "", one: "-column" };

/**
 * The buttons that save a figure: PNG, SVG, and SVG for one column of a paper.
 * @param {(key: string) => string} say of the sentences of the player
 * @param {object} given
 * @param {(width: number) => Figure | null} given.figure px; null as long as there is nothing to draw
 * @param {() => string} given.fileName without its ending
 * @param {string} [given.prefix] of the test ids
 * @returns {HTMLButtonElement[]}
 */
export function figureButtons(say, { figure, fileName, prefix = "" }) {
  return CHOICES.map(([name, format, width]) => {
    const click = () => {
      const drawing = figure(WIDTHS[width]);
      if (drawing) saveFigure(fileName() + ENDINGS[width], format, drawing);
    };
    const looks = { type: "button", class: "quiet save", testid: prefix + name };
    return element("button", { ...looks, title: say(`${name}_title`), on: { click } }, say(name));
  });
}
