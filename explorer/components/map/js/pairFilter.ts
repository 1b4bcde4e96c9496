import { element, type Part, positionRectangle } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import type { PairPart } from "../../trace/js/initialState.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { xOf, yOf } from "./geometry.ts";
import type { Space } from "./space.ts";

/** Queries and keys of two texts, A and B. */
const PARTS: PairPart[] = ["all", "aa", "ab", "ba", "bb"];
const PAST_EDGE = 2; // px beyond the map, which cuts the cover off

/** Which queries and which keys of two texts the large map shows. */
export function createPairFilter(context: TraceContext): Part {
  const group = { names: PARTS, prefix: "pair", label: "pair", small: true };
  const radios = createRadios(context.say, group, (name) =>
    context.set({ pairPart: name as PairPart }),
  );
  radios.element.classList.add("pair-filter");
  const draw = () => {
    radios.element.hidden = shownPart(context) === null;
    radios.check(context.state.pairPart);
  };
  return { element: radios.element, views: [draw] };
}

/**
 * What covers the cells that the filter leaves out: rows of other queries, columns of other keys.
 */
export function createPairCover(context: TraceContext, space: Space) {
  const covers = ["queries", "keys"].map((of) =>
    element("div", { class: "cover outside", testid: `pair-outside-${of}` }),
  );
  const draw = space.view((geometry) => {
    const part = shownPart(context);
    for (const cover of covers) cover.hidden = part === null || part === "all";
    if (part === null || part === "all") return;
    const site = siteOf(context);
    const second = context.trace.second ?? 0;
    const [queries, keys] = [...part].map((text) => (text === "a" ? 0 : 1));
    const [left, middle, right] = [0, second, site.keys].map((key) => xOf(geometry, key));
    const [top, divide, bottom] = [0, second, site.queries].map((row) => yOf(geometry, row));
    const rows = queries ? [top, divide] : [divide, bottom]; // of the other text
    const columns = keys ? [left, middle] : [middle, right];
    const width = columns[1] - columns[0] + (keys ? 0 : PAST_EDGE);
    const height = rows[1] - rows[0] + (queries ? 0 : PAST_EDGE);
    positionRectangle(covers[0], left, rows[0], right - left + PAST_EDGE, height);
    positionRectangle(covers[1], columns[0], top, width, bottom - top + PAST_EDGE);
  });
  return { elements: covers, draw };
}

/** The chosen part; null where the attention on screen is not of two texts. */
function shownPart({ trace, state }: TraceContext) {
  return trace.second && state.site === "encoder" ? state.pairPart : null;
}
