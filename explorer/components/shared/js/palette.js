import { context2d } from "./element.js";
import { MASK_REASONS, UNMASKED } from "./look.js";

/**
 * @typedef {number[]} Colour red, green, blue; 0..255
 *
 * @typedef {object} Palette the colours of a theme
 * @property {boolean} dark
 * @property {Colour} paper
 * @property {Colour} ink
 * @property {Colour[]} ramp LEVELS colours from weight 0 to 1
 * @property {Colour} query the current query, and nothing else
 * @property {(Colour | null)[]} masked background of a masked cell, by mask code
 * @property {(Colour | null)[]} stroke its pattern
 * @property {string} font
 * @property {string} key differs between themes
 */

export const LEVELS = 256;
const RAMPS = {
  light: ["#c3d6ec", "#7ba3d0", "#31629f", "#08264f"],
  dark: ["#1d3a60", "#386ba3", "#85b4e0", "#eef6ff"],
};
const SIGNED = {
  light: { below: ["#d8c5ea", "#9a68c0", "#4a1478"], above: ["#bfe3c6", "#4fa565", "#0b4a22"] },
  dark: { below: ["#3f2a5c", "#9065c4", "#e6d2ff"], above: ["#1d4a2c", "#479e60", "#cdf7d6"] },
};

/**
 * Any CSS colour, in whatever syntax.
 * @param {string} colour
 * @returns {Colour}
 */
export function rgb(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = context2d(canvas, { willReadFrequently: true });
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/**
 * Relative luminance (WCAG 2), 0..1.
 * @param {Colour} colour
 */
export function luminance(colour) {
  const linear = colour.map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/**
 * The colour `share` of the way from one to the other.
 * @param {Colour} one
 * @param {Colour} other
 * @param {number} share 0..1
 * @returns {Colour}
 */
export function mix(one, other, share) {
  return one.map((value, channel) => Math.round(value + (other[channel] - value) * share));
}

/**
 * A colour as CSS.
 * @param {Colour} colour
 */
export function css([red, green, blue]) {
  return `rgb(${red},${green},${blue})`;
}

/**
 * `count` colours along a line of stops.
 * @param {Colour[]} stops
 * @param {number} count
 */
export function gradient(stops, count) {
  return Array.from({ length: count }, (_, level) => {
    const position = (level / (count - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(position), stops.length - 2);
    return mix(stops[below], stops[below + 1], position - below);
  });
}

/**
 * The colours of the theme, from what CSS resolved at `sensor`.
 * @param {Element} sensor
 * @returns {Palette}
 */
export function readPalette(sensor) {
  const style = getComputedStyle(sensor);
  return paletteOf(rgb(style.backgroundColor), rgb(style.color), style.fontFamily);
}

/**
 * The colours of a figure to save: dark on white, whatever the theme.
 * @param {string} font
 * @returns {Palette}
 */
export function printPalette(font) {
  return paletteOf([255, 255, 255], [31, 36, 48], font);
}

/**
 * Weight zero has the colour of the page; from there luminance alone carries the weight, so that
 * it survives grey print and colour blindness.
 * @param {Colour} paper
 * @param {Colour} ink
 * @param {string} font
 * @returns {Palette}
 */
function paletteOf(paper, ink, font) {
  const dark = luminance(paper) < 0.2;
  return {
    dark,
    paper,
    ink,
    ramp: gradient([paper, ...RAMPS[dark ? "dark" : "light"].map(rgb)], LEVELS),
    query: rgb(dark ? "#ffa23a" : "#c2410c"),
    masked: [null, ...[0.09, 0.24, 0.16, 0.05].map((share) => mix(paper, ink, share))],
    stroke: [null, ...[0.34, 0.46, 0.5, 0.3].map((share) => mix(paper, ink, share))],
    font,
    key: `${paper}/${ink}`,
  };
}

/**
 * The colours of signed values: purple below 0, the colour of the page at 0, green above.
 * @param {Palette} palette
 */
export function signedRamp(palette) {
  const { below, above } = SIGNED[palette.dark ? "dark" : "light"];
  /** @param {string[]} colours */
  const side = (colours) => gradient([palette.paper, ...colours.map(rgb)], LEVELS / 2);
  return [...side(below).reverse(), ...side(above)];
}

/**
 * The colour of a tone.
 * @param {Colour[]} ramp
 * @param {number} tone 0..1
 */
export function colourAt(ramp, tone) {
  return ramp[Math.round(tone * (LEVELS - 1))];
}

/**
 * Black or white, whichever can be read on `colour`.
 * @param {Colour} colour
 */
export function inkOn(colour) {
  return luminance(colour) > 0.179 ? "#000" : "#fff";
}

/** The codes of the reasons why a cell is masked. */
export const MASK_CODES = [...MASK_REASONS.keys()].filter((code) => code !== UNMASKED);

/**
 * The colours of a mask code, which has some unless it is 0.
 * @param {(Colour | null)[]} colours by mask code
 * @param {number} code
 */
export function maskColour(colours, code) {
  return css(colours[code] ?? [0, 0, 0]);
}
