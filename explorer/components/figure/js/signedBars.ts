import { drawn } from "../../dom/js/drawing.ts";
import { element } from "../../dom/js/element.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { colourAt, css, mix, type Palette, signedRamp } from "../../page/js/palette.ts";
import { figurePen, LINE, MARGIN, TYPE } from "./figureText.ts";

export interface SignedBar {
  label: string;
  title: string; // on hover
  value: number;
  number: string; // as it is printed
  mark?: number; // a value to compare with, drawn as a line
  sum?: boolean; // whether it is what the bars above add up to
}

/** px, or what a drawing takes for them that the page stretches */
type Box = { x: number; y: number; width: number; height: number };

const TONE = { below: 0.125, above: 0.875 }; // of the signed colours
const SHARE = { track: 0.08, zero: 0.5 }; // of the ink
const STRETCHED: Box = { x: 0, y: 0, width: 200, height: 10 };
const BEYOND = 2.5; // px by which a mark is higher than its bar
const GAP = 10; // px

/**
 * Named bars on screen to the left and right of 0, one below the other, each with its number: purple
 * below 0, green above.
 */
export function createSignedBars(testid: string) {
  const node = element("div", { class: "signed-bars", testid, role: "list" });
  const draw = (palette: Palette, bars: SignedBar[], largest: number) => {
    const { width, height } = STRETCHED;
    const looks = { class: "signed-track", viewBox: `0 0 ${width} ${height}` };
    const items = bars.map((bar) =>
      element(
        "div",
        { class: bar.sum ? "signed-bar sum" : "signed-bar", role: "listitem", title: bar.title },
        element("span", {}, bar.label),
        drawn(
          "svg",
          { ...looks, preserveAspectRatio: "none", "aria-hidden": "true" },
          ...barMarks(palette, bar, largest, STRETCHED),
        ),
        element("span", { class: "value" }, bar.number),
      ),
    );
    node.replaceChildren(...items);
  };
  return { element: node, draw };
}

/**
 * The same bars in a figure, a line for each; the sum in bold.
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
  const x = MARGIN + widest(({ label }) => label) + GAP;
  const width = sheet - MARGIN - widest(({ number }) => number) - GAP - x;
  return bars.flatMap((bar, index) => {
    const y = top + index * LINE;
    const text = { y: y + LINE / 2 + TYPE * 0.35, ...(bar.sum ? { "font-weight": 600 } : {}) };
    return [
      drawn("text", { x: MARGIN, ...text }, bar.label),
      ...barMarks(palette, bar, largest, { x, y: y + 4, width, height: LINE - 8 }),
      drawn("text", { x: sheet - MARGIN, "text-anchor": "end", ...text }, bar.number),
    ];
  });
}

/** A bar in its track, the line at 0, and its mark. */
function barMarks(palette: Palette, { value, mark }: SignedBar, largest: number, box: Box) {
  const { x, y, width, height } = box;
  const placeOf = (of: number) => {
    const share = largest ? of / largest : 0;
    return x + (width / 2) * (1 + Math.max(-1, Math.min(1, share)));
  };
  const line = (at: number, beyond: number, stroke: string, thickness: number) => {
    const place = { x1: at, x2: at, y1: y - beyond, y2: y + height + beyond };
    const looks = { stroke, "stroke-width": thickness, "vector-effect": "non-scaling-stroke" };
    return drawn("line", { ...place, ...looks });
  };
  const [zero, end] = [placeOf(0), placeOf(value)];
  const bar = { x: Math.min(zero, end), y, width: Math.max(Math.abs(end - zero), 1), height };
  const fill = css(colourAt(signedRamp(palette), value < 0 ? TONE.below : TONE.above));
  const [track, grey] = [SHARE.track, SHARE.zero].map((share) =>
    css(mix(palette.paper, palette.ink, share)),
  );
  return [
    drawn("rect", { ...box, fill: track }),
    drawn("rect", { ...bar, fill }),
    line(zero, 0, grey, 1),
    ...(mark === undefined ? [] : [line(placeOf(mark), BEYOND, css(palette.ink), 2)]),
  ];
}
