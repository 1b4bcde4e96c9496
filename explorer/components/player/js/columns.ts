import { SMALL_WIDTH } from "../../dom/js/lengths.ts";
import { measured, untracked, type View } from "../../dom/js/store.ts";
import { createGeometry } from "../../map/js/geometry.ts";
import { railWidth } from "../../map/js/rail.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const NARROWEST_RAIL = { desk: 270, projector: 262, small: 196, smallProjector: 212 }; // px
const LINES = { desk: 590, projector: 700 }; // px of the lines above and below the map
const WIDEST_MAP = 1.5; // widths of all cells to their height; a wider map takes what is left
const ABOVE_HEADS = 62; // px of the choice of the attention and the line below it
const AROUND_MAP = 78; // px of the heading and the legend

/**
 * Share the width: the map gets what square cells of the free height need, the thumbnails what is
 * left, as far as they grow with it.
 */
export function createColumns(
  context: TraceContext,
  { main, aside }: { main: HTMLElement; aside: HTMLElement },
): View {
  const freeWidth = measured(() => {
    const gaps = 2 * parseFloat(getComputedStyle(main).columnGap);
    return main.clientWidth - aside.getBoundingClientRect().width - gaps;
  });
  const freeHeight = measured(() => main.clientHeight);
  const tabsWidth = measured(
    () => main.querySelector(".rail > .segments")?.getBoundingClientRect().width ?? 0,
  );
  return () => {
    if (context.narrow()) return;
    const [width, height] = [freeWidth(), freeHeight()];
    const least = Math.max(narrowestRail(context), Math.ceil(tabsWidth())); // some fonts are wide
    const lines = LINES[context.state.projector ? "projector" : "desk"];
    const most = width - Math.max(mapWidth(context, width - least, height - AROUND_MAP), lines);
    const used = most > least ? railWidth(context, most, height - ABOVE_HEADS) : least;
    context.root.style.setProperty("--rail", `${Math.max(least, Math.min(used, most))}px`);
  };
}

/** The least width of the thumbnails, px. */
function narrowestRail({ width, state }: TraceContext) {
  if (width() > SMALL_WIDTH) return NARROWEST_RAIL[state.projector ? "projector" : "desk"];
  return NARROWEST_RAIL[state.projector ? "smallProjector" : "small"];
}

/** The width that a map needs with its labels, px. */
function mapWidth(context: TraceContext, width: number, height: number) {
  const site = untracked(() => siteOf(context)); // the columns stay when another is chosen
  const geometry = createGeometry(context, site, width, height, 1);
  const cells = Math.min(geometry.width, height * WIDEST_MAP);
  return geometry.left + cells + geometry.predictedRoom;
}
