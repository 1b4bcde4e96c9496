import { definitions } from "./figureLegend.js";
import { addParagraph, drawn, FONT, MARGIN, TYPE, WIDTHS, widthOf } from "./figureText.js";
import { css, mix } from "./palette.js";

/** @import { Figure } from "./savedFile.js" */
/** @import { Palette } from "./palette.js" */

const MUTED = 0.72; // of the ink

/**
 * An empty figure on the colour of the paper, with what its map and legend refer to.
 * @param {Palette} palette
 * @param {string} language of its texts
 * @param {number} [width] px
 * @returns {SVGElement}
 */
export function beginFigure(palette, language, width = WIDTHS.both) {
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
 * @param {SVGElement} drawing
 * @param {Palette} palette
 * @param {string} project name and version
 * @param {number} end px
 * @returns {Figure}
 */
export function endFigure(drawing, palette, project, end) {
  const fill = css(mix(palette.paper, palette.ink, MUTED));
  const bottom = addParagraph(drawing, project, end + 2, { fill });
  const height = Math.ceil(bottom + MARGIN / 2);
  drawing.setAttribute("height", String(height));
  const width = widthOf(drawing);
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { drawing, width, height };
}
