import { assign } from "../../shared/js/element.js";

/**
 * @typedef {object} Bar
 * @property {number} value above or below zero
 * @property {string} title on hover
 * @property {boolean} [chosen]
 * @property {boolean} [masked]
 *
 * @typedef {{element: SVGSVGElement, draw: (bars: Bar[], width: number) => void}} BarChart
 */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 64; // px
const WIDEST = 16; // px of a bar
const LEAST = 1; // px, so that no bar is nothing

/**
 * Signed bars side by side on one zero line, on a scale of their own.
 * @param {string} testid
 * @returns {BarChart}
 */
export function createBars(testid) {
  const chart = document.createElementNS(SVG, "svg");
  chart.dataset.testid = testid;
  assign(chart, "class", "bars");
  assign(chart, "aria-hidden", "true"); // the numbers stand beside it
  /** @type {BarChart["draw"]} */
  const draw = (bars, width) => {
    const step = Math.min(WIDEST, width / Math.max(bars.length, 1));
    const most = Math.max(0, ...bars.map(({ value }) => value));
    const least = Math.min(0, ...bars.map(({ value }) => value));
    const perUnit = most > least ? HEIGHT / (most - least) : 0;
    const zero = most * perUnit;
    assign(chart, "width", step * bars.length);
    assign(chart, "height", HEIGHT + 2);
    const line = shape("line", { class: "zero", x2: step * bars.length, y1: zero, y2: zero });
    const shapes = bars.map(({ value, title, chosen, masked }, index) => {
      const height = Math.max(Math.abs(value) * perUnit, LEAST);
      const own = { x: index * step, y: value < 0 ? zero : zero - height, height };
      const bar = shape("rect", {
        class: ["component", chosen && "chosen", masked && "masked"].filter(Boolean).join(" "),
        width: Math.max(step - 1, LEAST),
        ...own,
      });
      const name = document.createElementNS(SVG, "title");
      name.textContent = title;
      bar.append(name);
      return bar;
    });
    chart.replaceChildren(line, ...shapes);
  };
  return { element: chart, draw };
}

/**
 * @param {"line" | "rect"} kind
 * @param {Record<string, string | number>} attributes
 */
function shape(kind, attributes) {
  const node = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) assign(node, name, value);
  return node;
}
