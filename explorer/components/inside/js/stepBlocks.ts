import { brokenLines, LINE, MARGIN } from "../../figure/js/figureText.ts";

/** bold: not narrower than bold text */
export type Pens = { plain: CanvasRenderingContext2D; bold: CanvasRenderingContext2D };

/** px; `y` of the baseline */
export interface PlacedText {
  x: number;
  y: number;
  text: string;
  "text-anchor": "start" | "end";
  part: "heading" | "key" | "token" | "score" | "weight" | "reason" | "note" | "number";
  chosen?: boolean;
}

/** px */
export type PlacedBar = {
  x: number;
  y: number;
  width: number;
  height: number;
  part: "track" | "bar" | "chosen" | "zero";
};

/** One step of a calculation. */
export interface Step {
  heading: string;
  values?: ArrayLike<number>; // drawn as bars
  chosen?: number; // which of them is
  note?: string; // in the place of bars
  number: string;
}

const NARROWEST = 130; // px of a step
const GAP = 20; // px between two steps
const CHART = 44; // px
const MOST = 3; // steps beside each other
const WIDEST = 14; // px of a bar
const SLIT = 0.15; // between two bars, of their distance

/**
 * The steps of a calculation in rows of equal blocks: a heading, bars or a note, and the numbers.
 * @param given.sheet width of the figure, px
 * @param given.top px
 * @returns px
 */
export function placeSteps({
  steps,
  pens,
  sheet,
  top,
}: {
  steps: Step[];
  pens: Pens;
  sheet: number;
  top: number;
}): { texts: PlacedText[]; bars: PlacedBar[]; end: number } {
  const space = sheet - 2 * MARGIN;
  const across = Math.min(MOST, Math.floor((space + GAP) / (NARROWEST + GAP)));
  const width = (space + GAP) / across - GAP;
  const texts: PlacedText[] = [];
  const bars: PlacedBar[] = [];
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

/** @param place px */
function placeStep(
  { heading, values, chosen, note, number }: Step,
  { plain, bold }: Pens,
  place: { left: number; top: number; width: number },
) {
  const { left, top, width } = place;
  const lines = (text: string, part: PlacedText["part"], start: number): PlacedText[] =>
    brokenLines(part === "heading" ? bold : plain, text, width).map((line, index) => {
      const y = start + (index + 0.75) * LINE;
      return { x: left, y, text: line, "text-anchor": "start", part };
    });
  const texts = lines(heading, "heading", top);
  let end = top + texts.length * LINE;
  const bars = values ? placeBars(values, { left, top: end + 2, width }, chosen) : [];
  if (values) end += CHART + 4;
  for (const [text, part] of [
    [note ?? "", "note"],
    [number, "number"],
  ] as const) {
    const more = lines(text, part, end);
    texts.push(...more);
    end += more.length * LINE;
  }
  return { texts, bars, end };
}

/**
 * Signed bars side by side on one zero line, on a scale of their own.
 * @param place px
 */
function placeBars(
  values: ArrayLike<number>,
  { left, top, width }: { left: number; top: number; width: number },
  chosen?: number,
): PlacedBar[] {
  const numbers = Array.from(values);
  const step = Math.min(WIDEST, width / Math.max(numbers.length, 1));
  const most = Math.max(0, ...numbers);
  const least = Math.min(0, ...numbers);
  const perUnit = most > least ? CHART / (most - least) : 0;
  const zero = top + most * perUnit;
  const bars: PlacedBar[] = numbers.map((value, index) => ({
    x: left + index * step,
    y: value < 0 ? zero : zero - value * perUnit,
    width: step * (1 - SLIT),
    height: Math.abs(value) * perUnit,
    part: index === chosen ? "chosen" : "bar",
  }));
  const line = { x: left, y: Math.min(zero, top + CHART) - 0.5, width: step * numbers.length };
  return [...bars, { ...line, height: 1, part: "zero" }];
}
