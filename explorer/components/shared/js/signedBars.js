import { assign, element, populate, write } from "./element.js";
import { colourAt, css, signedRamp } from "./palette.js";

/** @import { Palette } from "./palette.js" */

/**
 * @typedef {object} SignedBar
 * @property {string} label
 * @property {string} title on hover
 * @property {number} value
 * @property {string} number as it is printed
 * @property {number} [mark] a value to compare with, drawn as a line
 * @property {boolean} [sum] whether it is what the bars above add up to
 *
 * @typedef {{element: HTMLElement, draw: (palette: Palette, bars: SignedBar[], largest: number) => void}} SignedBars
 */

export const TONE = { below: 0.125, above: 0.875 }; // of the signed colours

/**
 * Named bars to the left and right of 0, one below the other, each with its number: purple below 0,
 * green above.
 * @param {string} testid
 * @returns {SignedBars}
 */
export function createSignedBars(testid) {
  const node = element("div", { class: "signed-bars", testid, role: "list" });
  /** @type {SignedBars["draw"]} */
  const draw = (palette, bars, largest) => {
    const ramp = signedRamp(palette);
    const items = populate(node, bars.length, barElement);
    bars.forEach(({ label, title, value, number: text, mark, sum = false }, index) => {
      const [name, track, number] = /** @type {HTMLElement[]} */ ([...items[index].children]);
      const [bar, line] = /** @type {HTMLElement[]} */ ([...track.children]);
      const [from, to] = [50, placeOf(value, largest)].sort((one, other) => one - other);
      bar.style.left = `${from}%`;
      bar.style.width = `${to - from}%`;
      bar.style.background = css(colourAt(ramp, value < 0 ? TONE.below : TONE.above));
      line.hidden = mark === undefined;
      line.style.left = `${placeOf(mark ?? 0, largest)}%`;
      write(name, label);
      write(number, text);
      assign(items[index], "title", title);
      items[index].classList.toggle("sum", sum);
    });
  };
  return { element: node, draw };
}

/**
 * Where a value is in its track, in percent.
 * @param {number} value
 * @param {number} largest
 */
function placeOf(value, largest) {
  const share = largest ? value / largest : 0;
  return 50 + 50 * Math.max(-1, Math.min(1, share));
}

function barElement() {
  const track = element(
    "span",
    { class: "signed-track" },
    element("i", { class: "bar" }),
    element("i", { class: "mark" }),
  );
  return element(
    "div",
    { class: "signed-bar", role: "listitem" },
    element("span", {}),
    track,
    element("span", { class: "value" }),
  );
}
