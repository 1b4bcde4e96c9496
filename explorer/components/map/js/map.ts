import type { Part } from "../../dom/js/element.ts";
import {
  assign,
  drawParts,
  element,
  positionRectangle,
  sharpCanvas,
  write,
} from "../../dom/js/element.ts";
import type { Plotly, PlotlyElement } from "../../dom/js/plotly.ts";
import { anyOf } from "../../dom/js/store.ts";
import { frameShown } from "../../page/js/frame.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import { mapTitle, shownHead, shownName, siteOf, stepOfRow } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createAlignment, drawLinks } from "./alignment.ts";
import { createAxes } from "./axes.ts";
import type { Geometry } from "./geometry.ts";
import { cellAt, createGeometry, SMALLEST_AXIS } from "./geometry.ts";
import { isLargeMap, paintVisible } from "./largeMap.ts";
import { createLegend } from "./legend.ts";
import { liveFigure } from "./mapFigure.ts";
import { createOverlay } from "./overlay.ts";
import { drawPattern } from "./pattern.ts";
import { clearHover, setHover } from "./tooltip.ts";

export type MapPart = Part & { start: () => void; destroy: () => void; legend: HTMLElement };

/** The elements of the large map, from back to front. */
export interface MapLayers {
  box: HTMLElement;
  /** the cells: what is seen until Plotly has drawn them, without it, and of a large map */
  base: HTMLCanvasElement;
  plot: HTMLElement; // Plotly
  pattern: HTMLCanvasElement; // of masked cells
  links: HTMLCanvasElement; // of the alignment
}

const PLOT_CONFIG = {
  displayModeBar: false,
  doubleClick: false,
  responsive: false,
  showTips: false,
};
const CLICK_SLACK = 4; // px a pointer may move between press and release of a click

/**
 * The large map: one head, cell by cell, by Plotly, with the current step drawn over it. Of hundreds
 * of tokens a canvas has the cells, and Plotly the zoom alone.
 * @param more.tools at the end of the heading
 * @param more.onCell called when a cell was clicked, after its step is shown
 */
export function createMap(
  context: TraceContext,
  { tools = [], onCell }: { tools?: Part[]; onCell?: (cell: Cell) => void } = {},
): MapPart {
  const base = element("canvas", { class: "base" });
  const plot = element("div", { class: "plot" });
  const pattern = element("canvas", { class: "pattern" });
  const links = element("canvas", { class: "links", testid: "links" });
  const overlay = createOverlay(context);
  const axes = createAxes(context);
  const box = element(
    "div",
    { class: "map", role: "img", testid: "map" },
    base,
    plot,
    pattern,
    links,
    overlay.element,
    axes.element,
  );
  const layers = { box, base, plot, pattern, links };
  const problem = element("p", { class: "notice", testid: "map-notice", hidden: true });
  const legend = createLegend(context);
  const space = createSpace(context, box, legend.element);
  const drawing = createDrawing(context, layers, space);
  const heading = mapHeading(context, tools, drawing.resetZoom);
  const node = element(
    "section",
    { class: "map-panel", "aria-label": context.say("map") },
    heading.element,
    problem,
    box,
    legend.element,
  );
  const pointer = watchPointer(context, box, space, onCell);
  watchSpace(context, box, { ...space, refit: () => context.touch("map-size") });
  const update = (changed: Set<string>) => {
    drawParts([heading, legend], changed, context.screen);
    const moved = ["trace", "site", "size", "map-size", "projector", "theme"];
    if (anyOf(changed, ...moved) || !space.geometry()) {
      if (!space.measure()) return;
    }
    const geometry = space.geometry() as Geometry;
    drawLayers(context, layers, geometry, changed);
    const cells = isLargeMap(siteOf(context))
      ? []
      : ["layer", "head", "shows", "scale", "alignment"];
    if (anyOf(changed, ...moved, ...cells)) drawing.request();
    overlay.update(geometry);
    axes.update(geometry);
    if (anyOf(changed, "trace", "site", "layer", "head", "shows")) pointer.refresh();
  };
  const start = async () => {
    const loaded = await drawing.start();
    if (loaded) {
      box.classList.add("plotted");
    } else {
      problem.hidden = context.signal.aborted;
      write(problem, context.say("no_plotly"));
    }
  };
  return { element: node, update, start, destroy: drawing.stop, legend: legend.element };
}

/** Redraw the layers that the changes touch; a step touches none of them. */
function drawLayers(
  context: TraceContext,
  { box, base, pattern, links }: MapLayers,
  geometry: Geometry,
  changed: Set<string>,
) {
  const { state, palette } = context;
  const site = siteOf(context);
  const redrawn = anyOf(
    changed,
    ...["trace", "site", "layer", "head", "shows", "alignment"],
    ...["theme", "size", "map-size", "projector"],
  );
  if (isLargeMap(site)) box.classList.add("by-canvas");
  if (redrawn || changed.has("scale") || (isLargeMap(site) && changed.has("zoom"))) {
    const tone = tones(
      site.weights(state.layer, shownHead(state)),
      site.keys,
      scaleOf(state, site),
    );
    paintVisible(base, geometry, palette, tone, site.masked(state.layer, shownHead(state)), site);
    assign(box, "aria-label", `${context.say("map")}: ${mapTitle(context)}`);
  }
  if (redrawn || anyOf(changed, "scale", "zoom")) {
    paintPattern(context, pattern, geometry, site.masked(state.layer, shownHead(state)));
  }
  if (redrawn || changed.has("zoom")) drawLinks(context, links, geometry);
}

/** The pattern of the masked cells at the present zoom. */
export function paintPattern(
  context: TraceContext,
  canvas: HTMLCanvasElement,
  geometry: Geometry,
  masked: ArrayLike<number>,
) {
  const pen = sharpCanvas(canvas, geometry.width, geometry.height);
  positionRectangle(canvas, geometry.left, geometry.top, geometry.width, geometry.height);
  drawPattern(pen, geometry, siteOf(context), masked, context.palette);
}

/**
 * Fit a map into the space of its box, and move what is below it up to the cells.
 * @param cellsHeight px that the cells or their axis take
 * @returns null while there is no space
 */
export function fitMap(
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

/** Fit the map again when its box got another size, as when a line above or below it wraps. */
export function watchSpace(
  context: TraceContext,
  box: HTMLElement,
  { geometry, refit }: { geometry: () => Geometry | null; refit: () => void },
) {
  const observer = new ResizeObserver(() => {
    const fitted = geometry()?.box;
    if (!fitted || context.root.dataset.narrow !== undefined) return;
    if (fitted.width !== box.clientWidth || fitted.height !== box.clientHeight) refit();
  });
  observer.observe(box);
  context.signal.addEventListener("abort", () => observer.disconnect());
}

/**
 * The geometry of the map, measured again when its space changes; the zoom is kept while the
 * same trace and attention are shown.
 */
function createSpace(context: TraceContext, box: HTMLElement, below: HTMLElement) {
  let geometry: Geometry | null = null;
  let shown = "";
  const measure = () => {
    const next = fitMap(context, box, below, ({ height }) => Math.max(height, SMALLEST_AXIS));
    if (!next) return false;
    const now = `${context.generation}/${context.state.site}`;
    if (geometry && shown === now) Object.assign(next, { x: geometry.x, y: geometry.y });
    geometry = next;
    shown = now;
    return true;
  };
  return { measure, geometry: () => geometry };
}

/**
 * Plotly's part: at most one drawing at a time, and after it only the latest request. Until it has
 * drawn, which takes longer than all else on the page, the canvas shows the cells.
 */
function createDrawing(
  context: TraceContext,
  layers: MapLayers,
  space: { geometry: () => Geometry | null },
) {
  const plot = layers.plot as PlotlyElement;
  let plotly: Plotly | null = null;
  let [busy, requested, stopped, listening] = [false, false, false, false];
  /** Take the ranges that Plotly shows. */
  const followZoom = () => {
    const geometry = space.geometry();
    if (!geometry) return;
    const { xaxis, yaxis } = plot.layout;
    const [x, y] = [xaxis.range, [...yaxis.range].reverse()];
    const site = siteOf(context);
    const zoomed = x[1] - x[0] < site.keys || y[1] - y[0] < site.queries;
    context.set({ zoomed });
    if ([0, 1].every((end) => geometry.x[end] === x[end] && geometry.y[end] === y[end])) return;
    Object.assign(geometry, { x: [...x], y });
    context.touch("zoom");
  };
  /** Show every cell. */
  const resetZoom = () => {
    const site = siteOf(context);
    plotly?.relayout(plot, {
      "xaxis.range": [-0.5, site.keys - 0.5],
      "yaxis.range": [site.queries - 0.5, -0.5],
    });
  };
  const request = async () => {
    requested = true;
    if (!plotly || stopped) return;
    layers.box.classList.add("redrawing");
    if (busy) return;
    busy = true;
    while (requested) {
      await frameShown();
      const geometry = space.geometry();
      if (stopped || !geometry) break;
      requested = false;
      const { data, layout } = liveFigure(context, geometry);
      await plotly.react(plot, data, layout, PLOT_CONFIG);
      if (stopped) break;
      layers.box.classList.toggle("by-canvas", isLargeMap(siteOf(context)));
      if (!listening) {
        plot.on("plotly_relayout", followZoom);
        plot.on("plotly_doubleclick", resetZoom);
        listening = true;
      }
      followZoom();
    }
    layers.box.classList.remove("redrawing");
    busy = false;
  };
  /** Load Plotly and draw; resolves to whether it could. */
  const start = async () => {
    try {
      plotly = await context.options.plotly();
      context.give({ plotly });
      await request();
      return true;
    } catch {
      return false;
    }
  };
  const stop = () => {
    stopped = true;
    plotly?.purge(plot);
  };
  return { request, start, stop, resetZoom };
}

/**
 * Pointer over the map: hover a cell; a click on a row shows its step.
 * @returns hovers the cell of what is drawn now, under a pointer at rest
 */
function watchPointer(
  context: TraceContext,
  box: HTMLElement,
  space: { geometry: () => Geometry | null },
  onCell: ((cell: Cell) => void) | undefined,
): { refresh: () => void } {
  const shownCell = (event: PointerEvent) => {
    const frame = box.getBoundingClientRect();
    const geometry = space.geometry();
    const cell =
      geometry && cellAt(geometry, event.clientX - frame.left, event.clientY - frame.top);
    return cell && cell.query < visibleRows(context) ? cell : null;
  };
  let latest: PointerEvent | null = null; // the latest one over the map
  const hover = (event: PointerEvent) => {
    latest = event;
    const { layer } = context.state;
    const head = shownHead(context.state);
    const cell = shownCell(event);
    setHover(context, cell && { ...cell, layer, head, x: event.clientX, y: event.clientY });
  };
  let pressed: { x: number; y: number } | null = null;
  box.addEventListener("pointermove", hover);
  box.addEventListener("pointerleave", (event) => {
    latest = null;
    clearHover(context, event);
  });
  box.addEventListener(
    "pointerdown",
    (event) => {
      pressed = { x: event.clientX, y: event.clientY };
      hover(event);
    },
    true,
  );
  window.addEventListener(
    "pointerup",
    (event) => {
      const start = pressed;
      pressed = null;
      if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) > CLICK_SLACK)
        return;
      const cell = shownCell(event);
      if (!cell) return;
      const step = stepOfRow(context, cell.query);
      if (step) context.act.goTo(step);
      onCell?.(cell);
    },
    { signal: context.signal },
  );
  return { refresh: () => latest && hover(latest) };
}

/** Above the map: which head this is, and tools. */
function mapHeading(context: TraceContext, tools: Part[], resetZoom: () => void): Part {
  const site = element("span", { class: "map-site" }); // left out where the space is short
  const head = element("span");
  const title = element("h2", { class: "map-title", testid: "map-title" }, site, head);
  const reset = element(
    "button",
    {
      type: "button",
      class: "quiet",
      testid: "reset-zoom",
      hidden: true,
      on: { click: resetZoom },
    },
    context.say("reset_zoom"),
  );
  const all = [createAlignment(context), ...tools];
  const node = element(
    "header",
    { class: "map-heading" },
    title,
    reset,
    ...all.map((tool) => tool.element),
  );
  const update = (changed: Set<string>) => {
    drawParts(all, changed, context.screen);
    if (changed.has("zoomed")) reset.hidden = !context.state.zoomed;
    if (!anyOf(changed, "trace", "site", "layer", "head", "shows", "alignment")) return;
    const { say, state } = context;
    write(site, `${say(`site_${state.site}`)} · `);
    write(head, shownName(context, state.layer, shownHead(state)));
    assign(title, "title", mapTitle(context));
  };
  return { element: node, update };
}
