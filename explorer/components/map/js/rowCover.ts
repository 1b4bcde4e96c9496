import { assign, element, positionRectangle, write } from "../../dom/js/element.ts";
import { weightsHidden, whyCovered } from "../../trace/js/guess.ts";
import { currentRow, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { cellSize, xOf, yOf } from "./geometry.ts";
import type { Space } from "./space.ts";

const SMALLEST_RULE = 7; // px between two lines of the cover
const PAST_EDGE = 2; // px by which the cover is longer than the map, which cuts it off: rounding shows no row

/** The cover of the rows that are not decoded yet, a veil where these are shown ahead. */
export function createRowCover(context: TraceContext, space: Space) {
  const text = element("span", { class: "cover-text" });
  const cover = element("div", { class: "cover", testid: "not-yet" }, text);
  const draw = space.view((geometry) => {
    const { ahead } = context.state;
    const site = siteOf(context);
    const row = currentRow(context);
    const visible = row + (weightsHidden(context) ? 0 : 1);
    cover.hidden = row < 0 || visible >= site.queries || site.name === "encoder";
    cover.classList.toggle("veil", ahead);
    if (cover.hidden) return;
    const why = context.say(whyCovered(context));
    assign(cover, "title", why);
    write(text, why);
    const [left, top] = [xOf(geometry, 0), yOf(geometry, visible)];
    const width = xOf(geometry, site.keys) - left;
    const height = yOf(geometry, site.queries) - top;
    positionRectangle(cover, left, top, width, height + PAST_EDGE);
    const size = cellSize(geometry);
    const below = weightsHidden(context) ? height - size.height : 0; // the text is of the first row
    text.style.marginBottom = `${below}px`;
    const ruled = size.height * Math.ceil(SMALLEST_RULE / size.height);
    cover.style.backgroundSize = `100% ${ruled}px`;
    text.hidden = ahead || height < 20 || width < 90; // shown ahead, weights are to be seen
  });
  return { element: cover, draw };
}
