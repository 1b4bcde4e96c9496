import type { Figure } from "../../dom/js/savedFile.ts";
import { css, mix, type Palette } from "../../page/js/palette.ts";
import { definitions } from "./figureLegend.ts";
import { addParagraph, drawn, FONT, MARGIN, TYPE, WIDTHS, widthOf } from "./figureText.ts";

const MUTED = 0.72; // of the ink

/**
 * An empty figure on the colour of the paper, with what its map and legend refer to.
 * @param language of its texts
 * @param width px
 */
export function beginFigure(
  palette: Palette,
  language: string,
  width: number = WIDTHS.both,
): SVGElement {
  return drawn(
    "svg",
    {
      width,
      "font-family": FONT,
      "font-size": TYPE,
      fill: css(palette.ink),
      lang: language,
    },
    definitions(palette),
    drawn("rect", { width: "100%", height: "100%", fill: css(palette.paper) }),
  );
}

/**
 * Name the project below `end`, and fit the figure to what is in it.
 * @param project name and version
 * @param end px
 */
export function endFigure(
  drawing: SVGElement,
  palette: Palette,
  project: string,
  end: number,
): Figure {
  const fill = css(mix(palette.paper, palette.ink, MUTED));
  const bottom = addParagraph(drawing, project, end + 2, { fill });
  const height = Math.ceil(bottom + MARGIN / 2);
  drawing.setAttribute("height", String(height));
  const width = widthOf(drawing);
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { drawing, width, height };
}
