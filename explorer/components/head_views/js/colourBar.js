import { paintRamp } from "../../shared/js/bitmap.js";
import { element } from "../../shared/js/element.js";
import { writeMarks } from "../../shared/js/legend.js";
import { LEVELS, signedRamp } from "../../shared/js/palette.js";
import { shortNumber, signedNumber } from "./numbers.js";

/** @import { Colour, Palette } from "../../shared/js/palette.js" */

/**
 * @typedef {object} ValueScale
 * @property {boolean} signed from −most over 0 to most, else from `least`, 0 if not given, to most
 * @property {number} most
 * @property {number} [least]
 * @property {Colour[]} ramp
 */

/**
 * The colours of a scale: for signed values those of `signedRamp`, else those of weights.
 * @param {Palette} palette
 * @param {boolean} signed
 */
export function rampOf(palette, signed) {
  return signed ? signedRamp(palette) : palette.ramp;
}

/** A colour bar with its numbers. */
export function createColourBar() {
  const bar = element("canvas", { class: "bar", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks" });
  /** @param {ValueScale} scale without marks where all values are 0 */
  const draw = ({ signed, most, least = 0, ramp }) => {
    paintRamp(bar, ramp);
    const number = signed ? signedNumber : shortNumber;
    const values = signed ? [-most, 0, most] : [least, (least + most) / 2, most];
    writeMarks(marks, most ? values.map((value, index) => [index / 2, number(value)]) : []);
  };
  return { element: element("div", { class: "bar-box" }, bar, marks), draw };
}
