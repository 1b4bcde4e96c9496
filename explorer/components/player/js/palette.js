const LEVELS = 256;
const RAMPS = {
  light: ["#c3d6ec", "#7ba3d0", "#31629f", "#08264f"],
  dark: ["#1d3a60", "#386ba3", "#85b4e0", "#eef6ff"],
};

/** [red, green, blue] 0..255 of any CSS colour, whatever syntax it is written in. */
function rgb(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/** Relative luminance (WCAG 2), 0..1. */
function luminance([red, green, blue]) {
  const linear = [red, green, blue].map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** The colour `share` of the way from one to the other. */
function mix(one, other, share) {
  return one.map((value, place) => Math.round(value + (other[place] - value) * share));
}

/** A colour as CSS. */
function css([red, green, blue]) {
  return `rgb(${red},${green},${blue})`;
}

/**
 * The colours of one theme, read from what CSS resolved at `probe`.
 *
 * Weight zero is the page itself; from there luminance alone carries the weight, so that it
 * survives grey print and colour-blind eyes.
 */
function readPalette(probe) {
  const style = getComputedStyle(probe);
  const paper = rgb(style.backgroundColor);
  const ink = rgb(style.color);
  const dark = luminance(paper) < 0.2;
  const stops = [paper, ...RAMPS[dark ? "dark" : "light"].map(rgb)];
  const ramp = Array.from({ length: LEVELS }, (_, level) => {
    const place = (level / (LEVELS - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return mix(stops[below], stops[below + 1], place - below);
  });
  return {
    dark,
    paper,
    ink,
    ramp,
    query: rgb(dark ? "#ffa23a" : "#c2410c"),
    closed: [null, mix(paper, ink, 0.09), mix(paper, ink, 0.24), mix(paper, ink, 0.16)],
    stroke: [null, mix(paper, ink, 0.34), mix(paper, ink, 0.46), mix(paper, ink, 0.5)],
    font: style.fontFamily,
    key: `${paper}/${ink}`,
  };
}

/** Ink that can be read on `colour`. */
function inkOn(colour) {
  return luminance(colour) > 0.22 ? "#000" : "#fff";
}
