import { LINE, MARGIN, TYPE, WIDTH } from "../../shared/js/figureText.js";

/**
 * @typedef {{x: number, y: number, text: string, "text-anchor": "start" | "middle"}} PlacedText px; `y` of the baseline
 * @typedef {{column: number, row: number, left: number, top: number}} Panel px
 *
 * @typedef {object} MomentsLayout where the parts of the picture lie, px
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
 * Heads as rows and moments as columns.
 * @param {object} given
 * @param {(text: string) => number} given.measure width, px
 * @param {number} given.top px
 * @param {string[]} given.facts what the lines above the columns are
 * @param {string[][]} given.columns by moment, the lines above its column
 * @param {string[]} given.rows names of the heads
 * @param {string[][]} given.below by head and moment, the text under the panel; empty where none has one
 * @param {{queries: number, keys: number}} given.shape of a panel
 * @returns {MomentsLayout}
 */
export function placeMoments({ measure, top, facts, columns, rows, below, shape }) {
  const left = MARGIN + Math.max(...[...facts, ...rows].map(measure)) + 2 * GAP;
  const pitch = Math.min((WIDTH - MARGIN - left + GAP) / columns.length, WIDEST + GAP);
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

/**
 * At most `most` of the moments, evenly spread, the first and the last among them.
 * @template Moment
 * @param {Moment[]} moments
 * @param {number} most
 */
export function spread(moments, most) {
  const count = Math.min(moments.length, most);
  if (count < 2) return moments.slice(-count || moments.length);
  const last = moments.length - 1;
  return Array.from(
    { length: count },
    (_, index) => moments[Math.round((index * last) / (count - 1))],
  );
}
