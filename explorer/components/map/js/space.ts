import { onResize } from "../../dom/js/onResize.ts";
import { createStore, type View } from "../../dom/js/store.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Zoom } from "../../trace/js/zoom.ts";
import { createGeometry, type Geometry, rangesOf } from "./geometry.ts";

/** Where a map lies in its box. */
export interface Space {
  fit: View; // measures the box; before the views that draw in it
  fitted: () => Geometry | null; // every cell; null while there is no space
  geometry: () => Geometry | null; // the cells that are shown
  view: (draw: (geometry: Geometry) => void) => View; // that draws while there is space
}

/**
 * The space of a map, measured again when there is more or less of it, as when a line above or below
 * its box wraps.
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
  const { values, set } = createStore<{
    fitted: Geometry | null;
    resized: number; // how often the box alone got another size
  }>({ fitted: null, resized: 0 });
  const fit = () => {
    void [context.size, values.resized]; // measures
    const fitted = fitMap(context, box, below, cellsHeight);
    if (fitted) set({ fitted });
  };
  const geometry = () => {
    const zoom = shown();
    return values.fitted && { ...values.fitted, ...(zoom && rangesOf(zoom)) };
  };
  onResize([box], context.signal, () => {
    const size = values.fitted?.box;
    if (!size || context.root.dataset.narrow !== undefined) return;
    if (size.width !== box.clientWidth || size.height !== box.clientHeight)
      set({ resized: values.resized + 1 });
  });
  return {
    fit,
    fitted: () => values.fitted,
    geometry,
    view: (draw) => () => {
      const found = geometry();
      if (found) draw(found);
    },
  };
}

/** Fit a map into the space of its box; null while there is none. */
function fitMap(
  context: TraceContext,
  box: HTMLElement,
  below: HTMLElement,
  cellsHeight: (geometry: Geometry) => number,
): Geometry | null {
  const narrow = context.root.dataset.narrow !== undefined; // there the page scrolls
  const width = box.clientWidth;
  const height = narrow
    ? Math.max(300, Math.min(width, window.innerHeight * 0.62))
    : box.clientHeight;
  if (width < 40 || height < 40) return null;
  const geometry = createGeometry(context, siteOf(context), width, height);
  const slack = Math.max(height - geometry.top - cellsHeight(geometry) - 6, 0);
  box.style.height = narrow ? `${height - slack}px` : "";
  below.style.transform = narrow ? "" : `translateY(${-slack}px)`;
  return geometry;
}
