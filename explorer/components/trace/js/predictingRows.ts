import type { HeadOrMethod } from "./contributions.ts";
import { EDITED, FULL_WEIGHT, LATER, OUTSIDE, PADDING, UNMASKED } from "./look.ts";
import type { Site } from "./trace.ts";

/** Codes of mask reasons, the first that any piece has; else "edited", as `core/words.py` merges. */
const REASONS = [UNMASKED, PADDING, LATER, OUTSIDE];
const MOST_CELLS = 4_000_000; // of the heads that are kept

/**
 * Cross-attention in words by the rows that predict, from which `align_words` of `core/alignment.py`
 * reads links: row w is the mean of the rows of pieces that predict the word after w, and the last
 * row that of the last piece. The trace in words has the mean of the rows that feed in word w, of
 * which only the last predicts what follows.
 * @param rows position of each target word's last piece
 * @param columns the same of the source words
 */
export function predictingSite(words: Site, pieces: Site, rows: number[], columns: number[]): Site {
  /** The cells of pieces of a cell. */
  const cellsOf = (row: number, key: number) => {
    const cells = [];
    const stop = rows[row + 1] ?? rows[row] + 1;
    for (let query = rows[row]; query < stop; query += 1) {
      for (let piece = key ? columns[key - 1] + 1 : 0; piece <= columns[key]; piece += 1)
        cells.push(query * pieces.keys + piece);
    }
    return cells;
  };
  /** How many rows of pieces predict the word after one. */
  const rowsOf = (row: number) => (rows[row + 1] ?? rows[row] + 1) - rows[row];
  const merged = (row: number, key: number, values: (cell: number) => number) =>
    cellsOf(row, key).reduce((sum, cell) => sum + values(cell), 0) / rowsOf(row);
  const everyCell = (of: (row: number, key: number) => number) =>
    rows.flatMap((_, row) => columns.map((_, key) => of(row, key)));
  const share = pieces.scale / words.scale;
  const weights = kept(words, (layer, head) => {
    const codes = pieces.weights(layer, head);
    const mean = everyCell((row, key) => merged(row, key, (cell) => codes[cell]));
    return Uint16Array.from(mean, (code) => Math.min(Math.round(code * share), FULL_WEIGHT));
  });
  const masked = kept(words, (layer, head) => {
    const codes = pieces.masked(layer, head);
    const codeOf = (cells: number[]) =>
      REASONS.find((code) => cells.some((cell) => codes[cell] === code)) ?? EDITED;
    return Uint8Array.from(everyCell((row, key) => codeOf(cellsOf(row, key))));
  });
  const has = (layer: number, head: HeadOrMethod) =>
    words.has(layer, head) && pieces.has(layer, head);
  return {
    ...words,
    weights,
    masked,
    has,
    picture: (layer, head) => {
      const small = words.picture(layer, head); // of a large trace with fewer rows and columns
      const whole = small.queries === words.queries && small.keys === words.keys;
      if (!whole || !has(layer, head)) return small;
      return { ...small, weights: weights(layer, head), masked: masked(layer, head) };
    },
    drop: (row, key) =>
      merged(row, key, (cell) => pieces.drop(Math.floor(cell / pieces.keys), cell % pieces.keys)),
  };
}

/** `compute` that keeps what it computed last. */
function kept<Codes>(
  { queries, keys }: Site,
  compute: (layer: number, head: HeadOrMethod) => Codes,
): (layer: number, head: HeadOrMethod) => Codes {
  const known: Map<string, Codes> = new Map();
  return (layer, head) => {
    const name = `${layer}/${head}`;
    const codes = known.get(name) ?? compute(layer, head);
    if (known.size * queries * keys > MOST_CELLS) known.clear();
    known.set(name, codes);
    return codes;
  };
}
