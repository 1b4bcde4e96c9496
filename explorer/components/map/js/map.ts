import { drawn, redraw } from "../../dom/js/drawing.ts";
import {
  assign,
  buttonElement,
  element,
  type Part,
  positionRectangle,
  write,
} from "../../dom/js/element.ts";
import { latestOnly } from "../../dom/js/latestOnly.ts";
import type { Plotly, PlotlyElement } from "../../dom/js/plotly.ts";
import { computed, type View, whenOther } from "../../dom/js/store.ts";
import { markTerm } from "../../dom/js/terms.ts";
import { frameShown } from "../../page/js/frame.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import { mapTitle, shownHead, shownName, siteOf, stepOfRow } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { showPart } from "../../trace/js/zoom.ts";
import { createAlignment, drawLinks } from "./alignment.ts";
import { createAxes } from "./axes.ts";
import { createEditGestures } from "./editGestures.ts";
import { cellAt, type Geometry, SMALLEST_AXIS, zoomOf } from "./geometry.ts";
import { isLargeMap, paintVisible } from "./largeMap.ts";
import { createLegend } from "./legend.ts";
import { liveFigure } from "./mapFigure.ts";
import { createOverlay } from "./overlay.ts";
import { definitions, hairlines, maskedPaths } from "./pattern.ts";
import { createSpace, type Space } from "./space.ts";
import { clearHover, setHover } from "./tooltip.ts";

export type MapPart = Part & { start: () => void; destroy: () => void; legend: HTMLElement };

/** The elements of the large map, from back to front. */
interface MapLayers {
  box: HTMLElement;
  /** the cells: what is seen until Plotly has drawn them, without it, and of a large map */
  base: HTMLCanvasElement;
  plot: HTMLElement; // Plotly
  pattern: SVGElement; // of masked cells
  links: SVGElement; // of the alignment
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
  const layers = createLayers();
  const { box } = layers;
  const legend = createLegend(context);
  const space = createSpace(
    context,
    box,
    legend.element,
    ({ height }) => Math.max(height, SMALLEST_AXIS),
    () => context.state.zoom,
  );
  const overlay = createOverlay(context, space);
  const axes = createAxes(context, space);
  box.append(overlay.element, axes.element);
  const tone = computed(() => {
    const [site, { state }] = [siteOf(context), context];
    return tones(site.weights(state.layer, shownHead(state)), site.keys, scaleOf(state, site));
  });
  const drawing = createDrawing(context, layers, space, tone);
  const heading = mapHeading(context, tools, drawing.resetZoom);
  const node = element(
    "section",
    { class: "map-panel", "aria-label": context.say("map") },
    heading.element,
    drawing.notice,
    box,
    legend.element,
  );
  const { refresh, shownCell } = watchPointer(context, box, space, onCell);
  const gestures = createEditGestures(context, box, space, shownCell);
  overlay.element.append(gestures.element);
  const views = [...heading.views, ...(legend.views ?? [])];
  const pictures = [
    space.fit,
    () => drawCells(context, layers, space, tone),
    space.view((geometry) => {
      const { layer } = context.state;
      const masked = siteOf(context).masked(layer, shownHead(context.state));
      paintPattern(context, layers.pattern, geometry, masked);
    }),
    space.view((geometry) => drawLinks(context, layers.links, geometry)),
    drawing.view,
    ...overlay.views,
    ...axes.views,
    ...gestures.views,
  ];
  return {
    element: node,
    views,
    pictures,
    after: [refresh],
    start: drawing.start,
    destroy: drawing.stop,
    legend: legend.element,
  };
}

function createLayers(): MapLayers {
  const base = element("canvas", { class: "base" });
  const plot = element("div", { class: "plot" });
  const pattern = drawn("svg", { class: "pattern" });
  const links = drawn("svg", { class: "links", "data-testid": "links" });
  const looks = { class: "map", role: "img", testid: "map" };
  const box = element("div", looks, base, plot, pattern, links);
  return { box, base, plot, pattern, links };
}

/** The cells on the canvas, which Plotly's cover once it has drawn; of a large map they stay. */
function drawCells(
  context: TraceContext,
  { box, base }: MapLayers,
  space: Space,
  tone: () => Float32Array,
) {
  const { state, palette } = context;
  const site = siteOf(context);
  const large = isLargeMap(site);
  const geometry = space.geometry();
  if (!geometry) return;
  if (large) box.classList.add("by-canvas");
  const { queries, keys } = site;
  const masked = site.masked(state.layer, shownHead(state));
  paintVisible(base, geometry, palette, { queries, keys, tone: tone(), masked });
  assign(box, "aria-label", `${context.say("map")}: ${mapTitle(context)}`);
}

/** The pattern of the masked cells and the hairlines at the present zoom. */
export function paintPattern(
  context: TraceContext,
  pattern: SVGElement,
  geometry: Geometry,
  masked: Uint8Array,
) {
  positionRectangle(pattern, geometry.left, geometry.top, geometry.width, geometry.height);
  const { palette } = context;
  const site = siteOf(context);
  const paths = maskedPaths(palette, geometry, site, masked);
  redraw(pattern, [definitions(palette), ...paths, ...hairlines(palette, geometry, site)]);
}

/**
 * Plotly's part: at most one drawing at a time, and after it only the latest request. Until it has
 * drawn, which takes longer than all else on the page, the canvas shows the cells.
 */
function createDrawing(
  context: TraceContext,
  layers: MapLayers,
  space: Space,
  tone: () => Float32Array,
) {
  const plot = layers.plot as PlotlyElement;
  const notice = element("p", { class: "notice", testid: "map-notice", hidden: true });
  let plotly: Plotly | null = null;
  let figure: ReturnType<typeof liveFigure> | null = null;
  let [stopped, listening] = [false, false];
  /** Take the ranges that a person chose in Plotly, as whole cells. */
  const followZoom = () => {
    const { xaxis, yaxis } = plot.layout;
    const [top, bottom] = [...yaxis.range].reverse();
    const zoom = zoomOf({ x: [xaxis.range[0], xaxis.range[1]], y: [top, bottom] });
    if (!showPart(context, zoom)) draw(); // the same cells, without parts of others
  };
  /** Show every cell. */
  const resetZoom = () => showPart(context, null);
  const draw = latestOnly(async () => {
    if (!plotly || stopped || !figure) return;
    layers.box.classList.add("redrawing");
    await frameShown();
    if (stopped) return;
    await plotly.react(plot, figure.data, figure.layout, PLOT_CONFIG);
    if (stopped) return;
    layers.box.classList.toggle("by-canvas", isLargeMap(siteOf(context)));
    if (!listening) {
      plot.on("plotly_relayout", followZoom);
      plot.on("plotly_doubleclick", resetZoom);
      listening = true;
    }
    layers.box.classList.remove("redrawing");
  });
  const view = () => {
    const fitted = space.fitted();
    if (!fitted) return;
    figure = liveFigure(context, fitted, tone);
    draw();
  };
  /** Load Plotly and draw, or say that it could not. */
  const start = async () => {
    try {
      plotly = await context.options.plotly();
      context.give({ plotly });
      await draw();
      layers.box.classList.add("plotted");
    } catch {
      notice.hidden = context.signal.aborted;
      write(notice, context.say("no_plotly"));
    }
  };
  const stop = () => {
    stopped = true;
    plotly?.purge(plot);
  };
  return { view, start, stop, resetZoom, notice };
}

/**
 * Pointer over the map: hover a cell; a click on a row shows its step.
 * @returns hovers the cell of what is drawn now, under a pointer at rest
 */
function watchPointer(
  context: TraceContext,
  box: HTMLElement,
  space: Space,
  onCell: ((cell: Cell) => void) | undefined,
): { refresh: View; shownCell: (event: PointerEvent) => Cell | null } {
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
      if (!cell || context.state.edit) return;
      const step = stepOfRow(context, cell.query);
      if (step) context.act.goTo(step);
      onCell?.(cell);
    },
    { signal: context.signal },
  );
  const refresh = whenOther(
    () => [siteOf(context), context.state.layer, shownHead(context.state)],
    () => latest && hover(latest),
  );
  return { refresh, shownCell };
}

/** Above the map: which head this is, and tools. */
function mapHeading(context: TraceContext, tools: Part[], resetZoom: () => void) {
  const site = element("span");
  const before = element("span", { class: "map-site" }, site, " · "); // left out where space is short
  const head = element("span");
  markTerm(head, "term_layer"); // whose sentence says what L1 H2 is
  const title = element("h2", { class: "map-title", testid: "map-title" }, before, head);
  const reset = buttonElement(
    resetZoom,
    { class: "quiet", testid: "reset-zoom", hidden: true },
    context.say("reset_zoom"),
  );
  const all = [createAlignment(context), ...tools];
  const node = element(
    "header",
    { class: "map-heading row wrap" },
    title,
    reset,
    ...all.map((tool) => tool.element),
  );
  const draw = () => {
    const { say, state } = context;
    write(site, say(`site_${state.site}`));
    markTerm(site, `site_${state.site}`);
    write(head, shownName(context, state.layer, shownHead(state)));
    assign(title, "title", mapTitle(context));
  };
  const offerReset = () => {
    reset.hidden = !context.state.zoom;
  };
  return { element: node, views: [...all.flatMap(({ views = [] }) => views), offerReset, draw] };
}
