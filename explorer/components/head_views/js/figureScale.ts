import { drawn, figurePen, LINE, MARGIN, TYPE, widthOf } from "../../figure/js/figureText.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { colourAt, css, type Palette } from "../../page/js/palette.ts";
import type { ValueScale } from "./colourBar.ts";

const BAR = { width: 200, height: 12 }; // px
const STEPS = 16;
const GAP = 8; // px

/**
 * A colour bar of values that are no weights, with the numbers at its ends and in the middle.
 * @param name of what the colours mean
 * @param top px
 * @returns px, its end
 */
export function addScale(
  figure: SVGElement,
  palette: Palette,
  { signed, most, least = 0, ramp }: ValueScale,
  name: string,
  top: number,
): number {
  const id = signed ? "signed-ramp" : "value-ramp";
  const stops = Array.from({ length: STEPS + 1 }, (_, step) =>
    drawn("stop", { offset: step / STEPS, "stop-color": css(colourAt(ramp, step / STEPS)) }),
  );
  const left = MARGIN + textWidth(figurePen(), name) + 2 * GAP;
  const width = Math.min(BAR.width, widthOf(figure) - MARGIN - left - 3 * GAP);
  const looks = { fill: `url(#${id})`, stroke: css(palette.ink), "stroke-width": 0.5 };
  const values = signed ? [-most, 0, most] : [least, (least + most) / 2, most];
  figure.append(
    drawn("defs", {}, drawn("linearGradient", { id }, ...stops)),
    drawn("text", { x: MARGIN, y: top + TYPE * 0.85 }, name),
    drawn("rect", { x: left, y: top, width, height: BAR.height, ...looks }),
    ...values.map((value, index) => {
      const place = { x: left + (index / 2) * width, y: top + BAR.height + TYPE };
      return drawn("text", { ...place, "text-anchor": "middle" }, written(value, signed));
    }),
  );
  return top + BAR.height + LINE;
}

function written(value: number, signed: boolean): string {
  const text = Number(value.toFixed(2)).toString().replace("-", "−");
  return signed && value > 0 ? `+${text}` : text;
}
