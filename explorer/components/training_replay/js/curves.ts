import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { shortValue } from "../../dom/js/numbers.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { createPlot, type PlotlyElement } from "../../dom/js/plotly.ts";
import { computed, createStore, measured } from "../../dom/js/store.ts";
import { measuringPen, textWidth } from "../../map/js/geometry.ts";
import { type Box, heightFor, heightOf, panelBoxes, TYPE, valueAxis } from "./curveAxes.ts";
import { bestMoment, curveChart } from "./curveChart.ts";
import { headingOf, type Panel } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment } from "./runData.ts";

const PROJECTED_TYPE = 18; // px
const HEADING = 20; // px of a line above a panel
const VALUE = 130; // px beside the name of a panel that its value may need
const LEAST_PROJECTED = 120; // px of a panel

/** What is drawn of a run. */
interface CurveView {
  zoom: [number, number] | null; // the steps on screen, if not all
  zooming: boolean; // whether the next drag chooses these
}

/**
 * Panels of curves with one cursor; a click or a drag selects the moment there.
 * @param columnsNow how many panels are beside each other
 */
export function createCurves(
  context: ReplayContext,
  panels: Panel[],
  columnsNow: () => number,
  testid: string,
): Part {
  const { values: view, set } = createStore<CurveView>({ zoom: null, zooming: false });
  const plot = element("div", { class: "curve-plot", "aria-hidden": "true" });
  const cursors = panels.map(() => element("i", { class: "cursor", testid: `${testid}-cursor` }));
  const headings = panels.map((panel) => curveHeading(context, panel));
  const stars = panels.map(() => bestStar(context));
  const note = element("p", { class: "curve-note", testid: `${testid}-note` });
  const toggleZoom = () => set({ zoom: null, zooming: !view.zoom && !view.zooming });
  const zoom = buttonElement(toggleZoom, { class: "quiet curve-zoom", testid: `${testid}-zoom` });
  const box = element(
    "div",
    { class: "curves", testid, role: "group", "aria-label": context.say("curves") },
    ...cursors,
    ...headings.map((heading) => heading.element),
    note,
    zoom,
    plot, // the values under the pointer are above all that is read
    ...stars,
  );
  const range = () => view.zoom ?? context.range();
  const followZoom = () => {
    const [low, high] = (plot as unknown as PlotlyElement).layout.xaxis.range;
    const [first, last] = context.range();
    set({ zoom: low === first && high === last ? null : [low, high], zooming: false });
  };
  const show = createPlot(plot, context.signal, { plotly_relayout: followZoom });
  const width = measured(() => box.clientWidth);
  const height = measured(() => box.clientHeight);
  const font = measured(() => getComputedStyle(headings[0].name).font);
  const type = () => (context.state.projector ? PROJECTED_TYPE : TYPE);
  /** Lines above each panel: its value has its own where it does not fit beside the name. */
  const headingLines = () => {
    if (!context.state.projector || columnsNow() > 1) return 1;
    const pen = measuringPen(font());
    const left = panelBoxes(panels, 1, { width: 0, height: 0 }, PROJECTED_TYPE)[0].left;
    const room = width() - left - VALUE;
    const names = panels.map((panel) => context.say(headingOf(context.run, panel)));
    return names.some((name) => textWidth(pen, name) > room) ? 2 : 1;
  };
  const reserve = () => {
    const heading = headingLines();
    box.classList.toggle("two-lines", heading > 1);
    const least = `${heightFor(panels, LEAST_PROJECTED, type(), heading)}px`;
    box.style.setProperty("--least-height", least);
  };
  const chart = computed(() => {
    const size = { width: width(), height: height() };
    if (size.width < 60 || size.height < 60) return null;
    const given = { columns: columnsNow(), size, range: range(), type: type() };
    return curveChart(context, panels, { ...given, heading: headingLines() });
  });
  const boxes = () => chart()?.boxes ?? [];
  const draw = () => {
    const drawn = chart();
    if (!drawn || !context.plotly) return;
    const dragmode = view.zooming ? "zoom" : false;
    show(context.plotly, { data: drawn.data, layout: { ...drawn.layout, dragmode } });
  };
  const placeHeadings = () => {
    boxes().forEach(({ left, top, width: across }, index) => {
      const { element: heading } = headings[index];
      const lines = headingLines();
      heading.style.transform = `translate(${left}px, ${top - lines * HEADING}px)`;
      const free = columnsNow() === 1 ? width() - left : across; // above the names of the lines, too
      heading.style.width = `${free}px`;
    });
    const { every, moments, report } = context.run;
    const why = report.going ? "no_moment" : "never_moment";
    write(note, moments.length ? "" : context.say(why, { every }));
    const { top, height } = boxes()[0] ?? { top: 0, height: 0 }; // clear of the other headings
    note.style.top = `${top + height / 2}px`;
  };
  /** Where a step is, px from the left. */
  const placeOf = (step: number, { left, width }: Box) => {
    const [low, high] = range();
    return low <= step && step <= high ? left + ((step - low) / (high - low)) * width : null;
  };
  const placeStars = () => {
    const best = bestMoment(context.run);
    panels.forEach((panel, index) => {
      const box = boxes()[index];
      const loss = (panel.starred && best?.held_out) ?? null;
      const x = box && best ? placeOf(best.step, box) : null;
      stars[index].hidden = loss === null || loss === false || x === null;
      if (!best || !loss || x === null) return;
      const y = heightOf(box, valueAxis(panel, panel.lines(context)), loss);
      stars[index].style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`;
      const title = context.say("best_title", { step: best.step, loss: shortValue(loss) });
      assign(stars[index], "title", title);
      assign(stars[index], "aria-label", title);
    });
  };
  /** The cursor and the values at the selected moment. */
  const moveCursor = () => {
    const moment = context.run.moments[context.state.at];
    cursors.forEach((cursor, index) => {
      const box = boxes()[index];
      const x = moment && box ? placeOf(moment.step, box) : null;
      cursor.hidden = x === null;
      if (x === null) return;
      cursor.style.transform = `translate(${x - 1}px, ${box.top}px)`;
      cursor.style.height = `${box.height}px`;
    });
    headings.forEach((heading, index) => {
      const key = headingOf(context.run, panels[index]);
      write(heading.name, context.say(key));
      if (key === "bleu_all") assign(heading.element, "title", context.say("bleu_all_title"));
      write(heading.value, moment ? panels[index].value(moment) : "");
    });
  };
  const drawZoom = () => {
    write(zoom, context.say(view.zoom ? "zoom_reset" : "zoom"));
    assign(zoom, "title", context.say(view.zoom ? "zoom_reset_title" : "zoom_title"));
    assign(zoom, "aria-pressed", view.zooming ? "true" : "false");
    box.classList.toggle("zooming", view.zooming);
  };
  const stepAt = (x: number, { left, width }: Box) => {
    const [low, high] = range();
    return low + ((x - left) / width) * (high - low);
  };
  watchCurves(context, box, (x, y) => {
    const found = view.zooming ? undefined : boxes().find((one) => isIn(one, x, y));
    return found ? nearestMoment(context.run.moments, stepAt(x, found)) : null;
  });
  const pictures = [draw, placeHeadings, placeStars, moveCursor];
  return { element: box, views: [reserve, drawZoom], pictures };
}

function isIn({ left, top, width, height }: Box, x: number, y: number) {
  return x >= left - 8 && x <= left + width + 8 && y >= top - HEADING && y <= top + height + 20;
}

/** The name of a panel, and its value at the cursor. */
function curveHeading({ run, say }: ReplayContext, panel: Panel) {
  const value = element("output", { class: "curve-value", testid: `value-${panel.name}` });
  const name = element("span", { class: "curve-name" }, say(headingOf(run, panel)));
  const title = say(`${panel.name}_title`);
  return { element: element("div", { class: "curve-heading", title }, name, value), name, value };
}

/** What shows the best moment, over the mark that the chart has of it. */
function bestStar(context: ReplayContext) {
  const show = () => {
    const { moments, best } = context.run;
    if (best !== null) context.act.goTo(nearestMoment(moments, best));
  };
  const star = buttonElement(show, { class: "best-star", testid: "best", hidden: true });
  star.addEventListener("pointerdown", (event) => event.stopPropagation());
  return star;
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
