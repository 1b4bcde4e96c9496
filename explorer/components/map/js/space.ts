import { onResize } from "../../dom/js/onResize.ts";
import { computed, measured, type View } from "../../dom/js/store.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Zoom } from "../../trace/js/zoom.ts";
import { createGeometry, type Geometry, rangesOf } from "./geometry.ts";

const SMALLEST = 40; // px of a box in which a map is drawn
const LEAST = 300; // px of a map on a page that scrolls, where the window has them
const SHARE = 0.62; // of the height of the window

/** Where a map lies in its box. */
export interface Space {
  fit: View; // moves what is around the cells to them
  fitted: () => Geometry | null; // every cell; null while there is no space
  geometry: () => Geometry | null; // the cells that are shown
  view: (draw: (geometry: Geometry) => void) => View; // that draws while there is space
}

/**
 * The space of a map, measured again when there is more or less of it, as when a line above or below
 * its box wraps. On a narrow page, which scrolls, it is as high as it should be.
 * @param below moved up to the cells
 * @param cellsHeight px that the cells or their axis take
 * @param shown the part of the map on screen; null = all
 */
export function createSpace(
  context: TraceContext,
  box: HTMLElement,
  below: HTMLElement,
  cellsHeight: (geometry: Geometry) => number,
  shown: () => Zoom | null = () => null,
): Space {
  const width = measured(() => box.clientWidth);
  const boxHeight = measured(() => box.clientHeight);
  const windowHeight = measured(() => window.innerHeight);
  const height = () => {
    if (!context.narrow()) return boxHeight();
    const most = windowHeight() * SHARE; // a low window shows some rows of it
    return Math.max(Math.min(LEAST, most), Math.min(width(), most));
  };
  const fitted = computed(() => {
    if (width() < SMALLEST || height() < SMALLEST) return null;
    return createGeometry(context, siteOf(context), width(), height());
  });
  const fit = () => {
    const geometry = fitted();
    if (!geometry) return;
    const slack = Math.max(height() - geometry.top - cellsHeight(geometry) - 6, 0);
    box.style.height = context.narrow() ? `${height() - slack}px` : "";
    below.style.transform = context.narrow() ? "" : `translateY(${-slack}px)`;
  };
  const geometry = () => {
    const [whole, zoom] = [fitted(), shown()];
    return whole && { ...whole, ...(zoom && rangesOf(zoom)) };
  };
  onResize([box], context.signal, context.screen.measure);
  return {
    fit,
    fitted,
    geometry,
    view: (draw) => () => {
      const found = geometry();
      if (found) draw(found);
    },
  };
}
