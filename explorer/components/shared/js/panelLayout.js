import { LINE, MARGIN, TYPE } from "./figureText.js";

/**
 * @typedef {{x: number, y: number, text: string, "text-anchor": "start" | "middle"}} PlacedText px; `y` of the baseline
 * @typedef {{column: number, row: number, left: number, top: number}} Panel px
 *
 * @typedef {object} PanelLayout where the parts of the picture lie, px
 * @property {PlacedText[]} texts
 * @property {Panel[]} panels
 * @property {number} across width of a cell
 * @property {number} down height of a cell
 * @property {number} end
 */

const GAP = 8; // px
const WIDEST = 120; // px of a panel
const PROPORTION = [0.5, 1.5]; // height of a panel to its width, at least and at most

/**
 * Small maps in rows and columns, such as heads and the moments of a training.
 * @param {object} given
 * @param {(text: string) => number} given.measure width, px
 * @param {number} given.sheet width of the figure, px
 * @param {number} given.top px
 * @param {string[]} given.facts what the lines above the columns are
 * @param {string[][]} given.columns the lines above each column
 * @param {string[]} given.rows names
 * @param {string[][]} given.below by row and column, the text under the panel; empty where none has one
 * @param {{queries: number, keys: number}} given.shape of a panel
 * @returns {PanelLayout}
 */
export function placePanels({ measure, sheet, top, facts, columns, rows, below, shape }) {
  const left = MARGIN + Math.max(...[...facts, ...rows].map(measure)) + 2 * GAP;
  const pitch = Math.min((sheet - MARGIN - left + GAP) / columns.length, WIDEST + GAP);
  const width = pitch - GAP;
  const [least, most] = PROPORTION;
  const proportion = Math.min(Math.max(shape.queries / shape.keys, least), most);
  const height = width * proportion;
  const start = top + facts.length * LINE + GAP;
  const step = height + (below.length ? LINE : 0) + GAP;
  /** @type {(text: string, column: number, y: number) => PlacedText} */
  const centred = (text, column, y) => {
    const x = left + column * pitch + width / 2;
    return { x, y, text, "text-anchor": "middle" };
  };
  /** @type {(text: string, y: number) => PlacedText} */
  const named = (text, y) => ({ x: MARGIN, y, text, "text-anchor": "start" });
  const panels = rows.flatMap((_, row) =>
    columns.map((_, column) => ({
      column,
      row,
      left: left + column * pitch,
      top: start + row * step,
    })),
  );
  const texts = [
    ...facts.map((text, line) => named(text, top + (line + 0.75) * LINE)),
    ...columns.flatMap((lines, column) =>
      lines.map((text, line) => centred(text, column, top + (line + 0.75) * LINE)),
    ),
    ...rows.map((text, row) => named(text, start + row * step + height / 2 + TYPE * 0.35)),
    ...below.flatMap((line, row) =>
      line.map((text, column) => centred(text, column, start + row * step + height + TYPE)),
    ),
  ];
  return {
    texts: texts.filter(({ text }) => text),
    panels,
    across: width / shape.keys,
    down: height / shape.queries,
    end: start + rows.length * step,
  };
}
