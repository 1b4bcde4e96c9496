import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { createPlot, type PlotlyElement } from "../../dom/js/plotly.ts";
import { createStore } from "../../dom/js/store.ts";
import { createCursors, createHeadings, createStars } from "./curveMarks.ts";
import type { Panel } from "./curvePanels.ts";
import { createCurveSpace } from "./curveSpace.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment } from "./runData.ts";

/** What is drawn of a run. */
interface CurveView {
  zoom: [number, number] | null; // the steps on screen, if not all
  zooming: boolean; // whether the next drag chooses these
}

/**
 * Panels of curves with one cursor; a click or a drag selects the moment there.
 * @param columns how many panels are beside each other
 */
export function createCurves(
  context: ReplayContext,
  panels: Panel[],
  columns: () => number,
  testid: string,
): Part {
  const attributes = {
    class: "curves",
    testid,
    role: "group",
    "aria-label": context.say("curves"),
  };
  const box = element("div", attributes);
  const plot = element("div", { class: "curve-plot", "aria-hidden": "true" });
  const zoom = createZoom(context, box, testid);
  const space = createCurveSpace(context, panels, { box, columns, range: zoom.range });
  const headings = createHeadings(context, space, testid);
  const cursors = createCursors(context, space, testid);
  const stars = createStars(context, space);
  box.append(
    ...cursors.elements,
    ...headings.elements,
    zoom.element,
    plot, // the values under the pointer are above all that is read
    ...stars.elements,
  );
  const show = createPlot(plot, context.signal, {
    plotly_relayout: () => zoom.follow((plot as unknown as PlotlyElement).layout.xaxis.range),
  });
  const draw = () => {
    const drawn = space.chart();
    if (!drawn || !context.plotly) return;
    const dragmode = zoom.zooming() ? "zoom" : false;
    show(context.plotly, { data: drawn.data, layout: { ...drawn.layout, dragmode } });
  };
  watchCurves(context, box, (x, y) => {
    const step = zoom.zooming() ? null : space.stepAt(x, y);
    return step === null ? null : nearestMoment(context.run.moments, step);
  });
  const pictures = [draw, ...headings.pictures, ...stars.pictures, ...cursors.pictures];
  return { element: box, views: [space.reserve, zoom.draw], pictures };
}

/** The steps that are shown, all or those of a drag, and the button that lets a drag choose them. */
function createZoom(context: ReplayContext, box: HTMLElement, testid: string) {
  const { values: view, set } = createStore<CurveView>({ zoom: null, zooming: false });
  const toggle = () => set({ zoom: null, zooming: !view.zoom && !view.zooming });
  const button = buttonElement(toggle, { class: "quiet curve-zoom", testid: `${testid}-zoom` });
  const draw = () => {
    write(button, context.say(view.zoom ? "zoom_reset" : "zoom"));
    assign(button, "title", context.say(view.zoom ? "zoom_reset_title" : "zoom_title"));
    assign(button, "aria-pressed", view.zooming ? "true" : "false");
    box.classList.toggle("zooming", view.zooming);
  };
  /** Take the range that a person chose in Plotly. */
  const follow = ([low, high]: number[]) => {
    const [first, last] = context.range();
    set({ zoom: low === first && high === last ? null : [low, high], zooming: false });
  };
  const range = () => view.zoom ?? context.range();
  return { element: button, draw, follow, range, zooming: () => view.zooming };
}

/**
 * Select the moment where the pointer is pressed; dragging may leave the panels.
 * @param find the index of the moment at a place, px; null where none is selected
 */
function watchCurves(
  context: ReplayContext,
  box: HTMLElement,
  find: (x: number, y: number) => number | null,
) {
  let pressed = false;
  const select = (event: PointerEvent) => {
    const frame = box.getBoundingClientRect();
    const found = find(event.clientX - frame.left, event.clientY - frame.top);
    if (found !== null) context.act.goTo(found);
    return found !== null;
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !select(event)) return;
    pressed = true;
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (pressed) select(event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      pressed = false;
    });
  }
  onResize([box], context.signal, context.screen.measure);
}
