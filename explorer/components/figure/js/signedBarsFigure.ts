import { drawn } from "../../dom/js/drawing.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { colourAt, css, mix, type Palette, signedRamp } from "../../page/js/palette.ts";
import { figurePen, LINE, MARGIN, TYPE } from "./figureText.ts";
import { type SignedBar, TONE } from "./signedBars.ts";

const GAP = 10; // px
const TRACK = 0.08; // of the ink

/**
 * Bars to the left and right of 0 in a figure, a line for each: name, bar with its mark, number; the
 * sum in bold.
 * @param top px
 * @param sheet px
 */
export function signedLines(
  palette: Palette,
  bars: SignedBar[],
  largest: number,
  top: number,
  sheet: number,
) {
  const widest = (textOf: (bar: SignedBar) => string) =>
    Math.max(...bars.map((bar) => textWidth(figurePen(bar.sum), textOf(bar))));
  const left = MARGIN + widest(({ label }) => label) + GAP;
  const right = sheet - MARGIN - widest(({ number }) => number) - GAP;
  const half = (right - left) / 2;
  const zero = left + half;
  const ramp = signedRamp(palette);
  const track = css(mix(palette.paper, palette.ink, TRACK));
  return bars.flatMap(({ label, value, number, mark, sum }, index) => {
    const y = top + index * LINE;
    const text = { y: y + LINE / 2 + TYPE * 0.35, ...(sum ? { "font-weight": 600 } : {}) };
    const length = largest ? (Math.abs(value) / largest) * half : 0;
    const box = { y: y + 4, height: LINE - 8 };
    const fill = css(colourAt(ramp, value < 0 ? TONE.below : TONE.above));
    const mean = zero + (largest ? ((mark ?? 0) / largest) * half : 0);
    return [
      drawn("text", { x: MARGIN, ...text }, label),
      drawn("rect", { ...box, x: left, width: 2 * half, fill: track }),
      drawn("rect", { ...box, x: value < 0 ? zero - length : zero, width: length, fill }),
      drawn("rect", { x: mean - 0.75, y: y + 2, width: 1.5, height: LINE - 4 }),
      drawn("text", { x: sheet - MARGIN, "text-anchor": "end", ...text }, number),
    ];
  });
}
