import { context2d } from "../../dom/js/element.ts";

export type Colour = number[]; // red, green, blue; 0..255

/** The colours of a theme. */
export interface Palette {
  dark: boolean;
  paper: Colour;
  ink: Colour;
  ramp: Colour[]; // LEVELS colours from weight 0 to 1
  query: Colour; // the current query, and nothing else
  masked: (Colour | null)[]; // background of a masked cell, by mask code
  stroke: (Colour | null)[]; // its pattern
  font: string;
  key: string; // differs between themes
}

export const LEVELS = 256;
const RAMPS = {
  light: ["#c3d6ec", "#7ba3d0", "#31629f", "#08264f"],
  dark: ["#1d3a60", "#386ba3", "#85b4e0", "#eef6ff"],
};
const SIGNED = {
  light: { below: ["#d8c5ea", "#9a68c0", "#4a1478"], above: ["#bfe3c6", "#4fa565", "#0b4a22"] },
  dark: { below: ["#3f2a5c", "#9065c4", "#e6d2ff"], above: ["#1d4a2c", "#479e60", "#cdf7d6"] },
};

/** Any CSS colour, in whatever syntax. */
export function rgb(colour: string): Colour {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = context2d(canvas, { willReadFrequently: true });
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/** Relative luminance (WCAG 2), 0..1. */
export function luminance(colour: Colour) {
  const linear = colour.map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/**
 * The colour `share` of the way from one to the other.
 * @param share 0..1
 */
export function mix(one: Colour, other: Colour, share: number): Colour {
  return one.map((value, channel) => Math.round(value + (other[channel] - value) * share));
}

/** A colour as CSS. */
export function css([red, green, blue]: Colour) {
  return `rgb(${red},${green},${blue})`;
}

/** `count` colours along a line of stops. */
export function gradient(stops: Colour[], count: number) {
  return Array.from({ length: count }, (_, level) => {
    const position = (level / (count - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(position), stops.length - 2);
    return mix(stops[below], stops[below + 1], position - below);
  });
}

/** The colours of the theme, from what CSS resolved at `sensor`. */
export function readPalette(sensor: Element): Palette {
  const style = getComputedStyle(sensor);
  return paletteOf(rgb(style.backgroundColor), rgb(style.color), style.fontFamily);
}

/** The colours of a figure to save: dark on white, whatever the theme. */
export function printPalette(font: string): Palette {
  return paletteOf([255, 255, 255], [31, 36, 48], font);
}

/**
 * Weight zero has the colour of the page; from there luminance alone carries the weight, so that
 * it survives grey print and colour blindness.
 */
function paletteOf(paper: Colour, ink: Colour, font: string): Palette {
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

/** The colours of signed values: purple below 0, the colour of the page at 0, green above. */
export function signedRamp(palette: Palette) {
  const { below, above } = SIGNED[palette.dark ? "dark" : "light"];
  const side = (colours: string[]) => gradient([palette.paper, ...colours.map(rgb)], LEVELS / 2);
  return [...side(below).reverse(), ...side(above)];
}

/**
 * The colour of a tone.
 * @param tone 0..1
 */
export function colourAt(ramp: Colour[], tone: number) {
  return ramp[Math.round(tone * (LEVELS - 1))];
}

/** A ramp as `count` equal steps: where each colour is, 0..1, and the colour as CSS. */
export function rampStops(ramp: Colour[], count: number): [number, string][] {
  return Array.from({ length: count + 1 }, (_, step) => [
    step / count,
    css(colourAt(ramp, step / count)),
  ]);
}

/** Black or white, whichever can be read on `colour`. */
export function inkOn(colour: Colour) {
  return luminance(colour) > 0.179 ? "#000" : "#fff";
}

/**
 * The colours of a mask code, which has some unless it is 0.
 * @param colours by mask code
 */
export function maskColour(colours: (Colour | null)[], code: number) {
  return css(colours[code] ?? [0, 0, 0]);
}
