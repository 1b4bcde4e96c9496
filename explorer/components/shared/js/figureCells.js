import { drawn } from "./figureText.js";
import { visibleRows } from "./guess.js";
import { colourAt, css, maskColour } from "./palette.js";
import { scaleOf, tones } from "./scale.js";
import { shownKeys, siteOf } from "./stepState.js";

/** @import { TraceContext } from "./traceContext.js" */

/**
 * The cells of the selected head, one rectangle for each run of equal ones.
 * @param {Pick<TraceContext, "trace" | "state" | "palette">} context
 * @param {{left: number, top: number, across: number, down: number}} places px: the corner, and the size of a cell
 */
export function figureCells(context, { left, top, across, down }) {
  const { state, palette } = context;
  const site = siteOf(context);
  const masked = site.masked(state.layer, state.head);
  const tone = tones(site.weights(state.layer, state.head), site.keys, scaleOf(state, site));
  /** @param {number} cell */
  const fills = (cell) => {
    const code = masked[cell];
    return code
      ? [maskColour(palette.masked, code), `url(#masked-${code})`]
      : [css(colourAt(palette.ramp, tone[cell]))];
  };
  const white = css(palette.paper);
  /** @type {SVGElement[]} */
  const found = [];
  for (let query = 0; query < visibleRows(context); query += 1) {
    for (let key = 0, end = 0; key < shownKeys(context); key = end) {
      const fill = fills(query * site.keys + key);
      for (end = key + 1; end < shownKeys(context); end += 1)
        if (fills(query * site.keys + end).join() !== fill.join()) break;
      const place = { x: left + key * across, y: top + query * down };
      const shape = { ...place, width: (end - key) * across, height: down };
      const crisp = { "shape-rendering": "crispEdges" };
      if (fill[0] !== white)
        found.push(...fill.map((each) => drawn("rect", { ...shape, ...crisp, fill: each })));
    }
  }
  return found;
}
