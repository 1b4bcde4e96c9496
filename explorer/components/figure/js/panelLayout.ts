import { LINE, MARGIN, TYPE } from "./figureText.ts";

/** px; `y` of the baseline */
export type PlacedText = { x: number; y: number; text: string; "text-anchor": "start" | "middle" };

export type Panel = { column: number; row: number; left: number; top: number }; // px

/** Where the parts of the picture lie, px. */
interface PanelLayout {
  texts: PlacedText[];
  panels: Panel[];
  across: number; // width of a cell
  down: number; // height of a cell
  end: number;
}

const GAP = 8; // px
const WIDEST = 120; // px of a panel
const PROPORTION = [0.5, 1.5]; // height of a panel to its width, at least and at most

/**
 * Small maps in rows and columns, such as heads and the moments of a training.
 * @param given.measure width, px
 * @param given.sheet width of the figure, px
 * @param given.top px
 * @param given.facts what the lines above the columns are
 * @param given.columns the lines above each column
 * @param given.rows names
 * @param given.below by row and column, the text under the panel; empty where none has one
 * @param given.shape of a panel
 */
export function placePanels({
  measure,
  sheet,
  top,
  facts,
  columns,
  rows,
  below,
  shape,
}: {
  measure: (text: string) => number;
  sheet: number;
  top: number;
  facts: string[];
  columns: string[][];
  rows: string[];
  below: string[][];
  shape: { queries: number; keys: number };
}): PanelLayout {
  const left = MARGIN + Math.max(...[...facts, ...rows].map(measure)) + 2 * GAP;
  const pitch = Math.min((sheet - MARGIN - left + GAP) / columns.length, WIDEST + GAP);
  const width = pitch - GAP;
  const [least, most] = PROPORTION;
  const proportion = Math.min(Math.max(shape.queries / shape.keys, least), most);
  const height = width * proportion;
  const start = top + facts.length * LINE + GAP;
  const step = height + (below.length ? LINE : 0) + GAP;
  const centred = (text: string, column: number, y: number): PlacedText => {
    const x = left + column * pitch + width / 2;
    return { x, y, text, "text-anchor": "middle" };
  };
  const named = (text: string, y: number): PlacedText => ({
    x: MARGIN,
    y,
    text,
    "text-anchor": "start",
  });
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
