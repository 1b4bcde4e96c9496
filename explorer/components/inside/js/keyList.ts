import { LINE, MARGIN, shortLabel, TYPE } from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import type { Pens, PlacedBar, PlacedText } from "./stepBlocks.ts";

/** A key of a query. */
export interface KeyRow {
  key: number;
  token: string;
  score: string;
  weight: number;
  number: string; // the weight as it is written
  reason: string; // why it is masked, "" where it is not
  chosen: boolean;
}

/** Where the parts of the rows lie, px. */
interface KeyList {
  texts: PlacedText[];
  bars: PlacedBar[];
  end: number;
  left: KeyRow[]; // those for which there is no room
}

const GAP = 8; // px
const BETWEEN = 24; // px from one column of rows to the next
const COLUMN = 280; // px that a column of rows needs
const LONGEST = 42; // rows below each other, as tall as the tallest map
const FEW = 12; // rows that stay in one column
const TOKEN = { widest: 0.3, narrowest: 30 }; // of a column; px
const TRACK = 40; // px of a bar, at least

/**
 * The keys of a row below each other, each with its score, and with its weight as a bar or why it
 * is masked; many of them in columns. Where they are too many, those with the largest weights.
 * @param given.sheet width of the figure, px
 * @param given.top px
 */
export function placeKeys({
  rows,
  headings,
  pens,
  sheet,
  top,
}: {
  rows: KeyRow[];
  headings: Record<"token" | "score" | "weight", string>;
  pens: Pens;
  sheet: number;
  top: number;
}): KeyList {
  const space = sheet - 2 * MARGIN;
  const most = rows.length > FEW ? Math.floor((space + BETWEEN) / (COLUMN + BETWEEN)) : 1;
  const columns = Math.max(most, 1);
  const shown = largestRows(rows, columns * LONGEST);
  const lines = Math.ceil(shown.length / columns);
  const width = (space + BETWEEN) / columns - BETWEEN;
  const places = columnPlaces(rows, headings, pens, width);
  const list: KeyList = { texts: [], bars: [], end: top + (lines + 1) * LINE, left: [] };
  for (let column = 0; column * lines < shown.length; column += 1) {
    const left = MARGIN + column * (width + BETWEEN);
    list.texts.push(...headingTexts(headings, places, left, top));
    shown.slice(column * lines, (column + 1) * lines).forEach((row, line) => {
      const y = top + (line + 1) * LINE;
      list.texts.push(...rowTexts(row, places, pens, left, y));
      if (!row.reason) list.bars.push(...rowBars(row, places, left, y));
    });
  }
  const taken = new Set(shown);
  return { ...list, left: rows.filter((row) => !taken.has(row)) };
}

/** The chosen row and those with the largest weights, in their order. */
function largestRows(rows: KeyRow[], most: number) {
  const sorted = [...rows].sort(
    (one, other) => Number(other.chosen) - Number(one.chosen) || other.weight - one.weight,
  );
  return sorted.slice(0, most).sort((one, other) => one.key - other.key);
}

/**
 * Where the parts of a row lie within a column, px.
 * @param width of the column
 */
function columnPlaces(
  rows: KeyRow[],
  headings: Record<"token" | "score" | "weight", string>,
  { bold }: Pens,
  width: number,
) {
  const widest = (texts: string[]) => Math.max(...texts.map((text) => textWidth(bold, text)));
  const number = widest(rows.map(({ key }) => String(key + 1)));
  const score = widest([headings.score, ...rows.map((row) => row.score)]);
  const weight = widest(rows.map((row) => row.number));
  const reason = Math.max(widest(rows.map((row) => row.reason)), textWidth(bold, headings.weight));
  const tail = Math.max(reason, TRACK + GAP + weight);
  const tokens = widest([headings.token, ...rows.map(({ token }) => token)]);
  const free = width - number - score - tail - 3 * GAP;
  const room = Math.max(Math.min(tokens, free, width * TOKEN.widest), TOKEN.narrowest);
  const scoreEnd = number + GAP + room + GAP + score;
  const track = { from: scoreEnd + GAP, to: width - weight - GAP };
  return { number, token: number + GAP, room, scoreEnd, track, end: width };
}

export type Places = ReturnType<typeof columnPlaces>;

/**
 * @param left px
 * @param top px
 */
function headingTexts(
  headings: Record<"token" | "score" | "weight", string>,
  { token, scoreEnd, track }: Places,
  left: number,
  top: number,
): PlacedText[] {
  const y = top + 0.75 * LINE;
  return [
    { x: left + token, y, text: headings.token, "text-anchor": "start", part: "heading" },
    { x: left + scoreEnd, y, text: headings.score, "text-anchor": "end", part: "heading" },
    { x: left + track.from, y, text: headings.weight, "text-anchor": "start", part: "heading" },
  ];
}

/**
 * @param left px
 * @param top px
 */
function rowTexts(
  row: KeyRow,
  { number, token, room, scoreEnd, track, end }: Places,
  { bold }: Pens,
  left: number,
  top: number,
): PlacedText[] {
  const y = top + LINE / 2 + TYPE * 0.35;
  const { chosen, reason } = row;
  const label = shortLabel(bold, row.token, room);
  const last: PlacedText = reason
    ? { x: left + track.from, y, text: reason, "text-anchor": "start", part: "reason", chosen }
    : { x: left + end, y, text: row.number, "text-anchor": "end", part: "weight", chosen };
  return [
    { x: left + number, y, text: String(row.key + 1), "text-anchor": "end", part: "key", chosen },
    { x: left + token, y, text: label, "text-anchor": "start", part: "token", chosen },
    { x: left + scoreEnd, y, text: row.score, "text-anchor": "end", part: "score", chosen },
    last,
  ];
}

/**
 * The track of a bar and the bar.
 * @param left px
 * @param top px
 */
function rowBars(
  { weight, chosen }: KeyRow,
  { track }: Places,
  left: number,
  top: number,
): PlacedBar[] {
  const shape = { x: left + track.from, y: top + 4, height: LINE - 8 };
  const width = track.to - track.from;
  return [
    { ...shape, width, part: "track" },
    { ...shape, width: width * weight, part: chosen ? "chosen" : "bar" },
  ];
}
