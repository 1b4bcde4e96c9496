import { element } from "../../dom/js/element.ts";
import { shortNumber, signedNumber } from "../../dom/js/numbers.ts";
import { paintRamp } from "../../map/js/bitmap.ts";
import { writeMarks } from "../../map/js/legend.ts";
import { type Colour, colourAt, LEVELS, type Palette, signedRamp } from "../../page/js/palette.ts";

export interface ValueScale {
  signed: boolean; // from −most over 0 to most, else from 0 to most
  most: number;
  ramp: Colour[];
}

/** The colours of a scale: for signed values those of `signedRamp`, else those of weights. */
export function rampOf(palette: Palette, signed: boolean) {
  return signed ? signedRamp(palette) : palette.ramp;
}

/** The colour of a number. */
export function scaleColour({ signed, most, ramp }: ValueScale, value: number) {
  const share = Math.max(-1, Math.min(1, value / most));
  return colourAt(ramp, signed ? (share + 1) / 2 : Math.max(share, 0));
}

/** The numbers of a scale: tone 0..1, number. */
export function scaleMarks({ signed, most }: ValueScale): [number, string][] {
  const number = signed ? signedNumber : shortNumber;
  const values = signed ? [-most, 0, most] : [0, most / 2, most];
  return values.map((value, index) => [index / 2, number(value)]);
}

/** A colour bar with its numbers, which may be long: those at its ends stay below it. */
export function createColourBar() {
  const bar = element("canvas", { class: "ramp", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks within" });
  /** @param scale without marks where all values are 0 */
  const draw = (scale: ValueScale) => {
    paintRamp(bar, scale.ramp);
    writeMarks(marks, scale.most ? scaleMarks(scale) : []);
  };
  return { element: element("div", { class: "bar-box" }, bar, marks), draw };
}
