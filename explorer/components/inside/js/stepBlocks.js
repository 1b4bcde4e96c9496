import { brokenLines, LINE, MARGIN } from "../../shared/js/figureText.js";

/**
 * @typedef {{plain: CanvasRenderingContext2D, bold: CanvasRenderingContext2D}} Pens bold: not
 *   narrower than bold text
 *
 * @typedef {object} PlacedText px; `y` of the baseline
 * @property {number} x
 * @property {number} y
 * @property {string} text
 * @property {"start" | "end"} text-anchor
 * @property {"heading" | "key" | "token" | "score" | "weight" | "reason" | "note" | "number"} part
 * @property {boolean} [chosen]
 *
 * @typedef {{x: number, y: number, width: number, height: number, part: "track" | "bar" | "chosen" | "zero"}} PlacedBar px
 *
 * @typedef {object} Step of a calculation
 * @property {string} heading
 * @property {ArrayLike<number>} [values] drawn as bars
 * @property {number} [chosen] which of them is
 * @property {string} [note] in the place of bars
 * @property {string} number
 */

const NARROWEST = 130; // px of a step
const GAP = 20; // px between two steps
const CHART = 44; // px
const MOST = 3; // steps beside each other
const WIDEST = 14; // px of a bar
const SLIT = 0.15; // between two bars, of their distance

/**
 * The steps of a calculation in rows of equal blocks: a heading, bars or a note, and the numbers.
 * @param {object} given
 * @param {Step[]} given.steps
 * @param {Pens} given.pens
 * @param {number} given.sheet width of the figure, px
 * @param {number} given.top px
 * @returns {{texts: PlacedText[], bars: PlacedBar[], end: number}} px
 */
export function placeSteps({ steps, pens, sheet, top }) {
  const space = sheet - 2 * MARGIN;
  const across = Math.min(MOST, Math.floor((space + GAP) / (NARROWEST + GAP)));
  const width = (space + GAP) / across - GAP;
  /** @type {PlacedText[]} */
  const texts = [];
  /** @type {PlacedBar[]} */
  const bars = [];
  let end = top;
  for (let first = 0; first < steps.length; first += across) {
    const blocks = steps.slice(first, first + across).map((step, column) => {
      const left = MARGIN + column * (width + GAP);
      return placeStep(step, pens, { left, top: end, width });
    });
    texts.push(...blocks.flatMap((block) => block.texts));
    bars.push(...blocks.flatMap((block) => block.bars));
    end = Math.max(...blocks.map((block) => block.end)) + LINE / 2;
  }
  return { texts, bars, end };
}

/**
 * @param {Step} step
 * @param {Pens} pens
 * @param {{left: number, top: number, width: number}} place px
 */
function placeStep({ heading, values, chosen, note, number }, { plain, bold }, place) {
  const { left, top, width } = place;
  /** @type {(text: string, part: PlacedText["part"], start: number) => PlacedText[]} */
  const lines = (text, part, start) =>
    brokenLines(part === "heading" ? bold : plain, text, width).map((line, index) => {
      const y = start + (index + 0.75) * LINE;
      return { x: left, y, text: line, "text-anchor": "start", part };
    });
  const texts = lines(heading, "heading", top);
  let end = top + texts.length * LINE;
  const bars = values ? placeBars(values, { left, top: end + 2, width }, chosen) : [];
  if (values) end += CHART + 4;
  for (const [text, part] of /** @type {const} */ ([
    [note ?? "", "note"],
    [number, "number"],
  ])) {
    const more = lines(text, part, end);
    texts.push(...more);
    end += more.length * LINE;
  }
  return { texts, bars, end };
}

/**
 * Signed bars side by side on one zero line, on a scale of their own.
 * @param {ArrayLike<number>} values
 * @param {{left: number, top: number, width: number}} place px
 * @param {number} [chosen]
 * @returns {PlacedBar[]}
 */
function placeBars(values, { left, top, width }, chosen) {
  const numbers = Array.from(values);
  const step = Math.min(WIDEST, width / Math.max(numbers.length, 1));
  const most = Math.max(0, ...numbers);
  const least = Math.min(0, ...numbers);
  const perUnit = most > least ? CHART / (most - least) : 0;
  const zero = top + most * perUnit;
  /** @type {PlacedBar[]} */
  const bars = numbers.map((value, index) => ({
    x: left + index * step,
    y: value < 0 ? zero : zero - value * perUnit,
    width: step * (1 - SLIT),
    height: Math.abs(value) * perUnit,
    part: index === chosen ? "chosen" : "bar",
  }));
  const line = { x: left, y: Math.min(zero, top + CHART) - 0.5, width: step * numbers.length };
  return [...bars, { ...line, height: 1, part: "zero" }];
}
