import { element, write } from "../../shared/js/element.js";
import { anyOf } from "../../shared/js/store.js";
import { panelBoxes, panelFigure } from "./curveFigure.js";
import { nearestMoment } from "./runData.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { Box } from "./curveFigure.js" */
/** @import { Panel } from "./curvePanels.js" */
/** @import { ReplayContext } from "./replayContext.js" */

/**
 * Panels of curves with one cursor; a click or a drag selects the moment there.
 * @param {ReplayContext} context
 * @param {Panel[]} panels
 * @param {() => number} columnsNow how many panels are beside each other
 * @param {string} testid
 * @returns {Part & {destroy: () => void}}
 */
export function createCurves(context, panels, columnsNow, testid) {
  const plot = element("div", { class: "curve-plot", "aria-hidden": "true" });
  const cursors = panels.map(() => element("i", { class: "cursor", testid: `${testid}-cursor` }));
  const headings = panels.map((panel) => curveHeading(context, panel));
  const note = element("p", { class: "curve-note", testid: `${testid}-note` });
  const steps = element(
    "span",
    { class: "step-axis", "aria-hidden": "true" },
    context.say("step_axis"),
  );
  const box = element(
    "div",
    { class: "curves", testid, role: "group", "aria-label": context.say("curves") },
    plot,
    ...headings.map((heading) => heading.element),
    ...cursors,
    steps,
    note,
  );
  /** @type {Box[]} */
  let boxes = [];
  let [busy, requested] = [false, false];
  /** One drawing at a time, and after it only the latest request. */
  const draw = async () => {
    const size = { width: box.clientWidth, height: box.clientHeight };
    if (size.width < 60 || size.height < 60) return;
    boxes = panelBoxes(panels, columnsNow(), size);
    headings.forEach(({ element: heading }, index) => {
      heading.style.transform = `translate(${boxes[index].left}px, ${boxes[index].top - 19}px)`;
      heading.style.width = `${boxes[index].width}px`;
    });
    const { every, moments } = context.run;
    write(note, moments.length ? "" : context.say("no_moment", { every }));
    requested = true;
    if (!context.plotly || busy) return;
    busy = true;
    while (requested && !context.signal.aborted) {
      requested = false;
      const now = { width: box.clientWidth, height: box.clientHeight };
      const shown = { columns: columnsNow(), boxes, size: now, range: context.range() };
      const { data, layout } = panelFigure(context, panels, shown);
      await context.plotly.react(plot, data, layout, { staticPlot: true, displayModeBar: false });
    }
    busy = false;
  };
  /** The cursor and the values at the selected moment. */
  const moveCursor = () => {
    const moment = context.run.moments[context.state.at];
    const [low, high] = context.range();
    cursors.forEach((cursor, index) => {
      cursor.hidden = !moment || !boxes.length;
      if (cursor.hidden) return;
      const { left, top, width, height } = boxes[index];
      const x = left + ((moment.step - low) / (high - low)) * width;
      cursor.style.transform = `translate(${x - 1}px, ${top}px)`;
      cursor.style.height = `${height}px`;
    });
    headings.forEach((heading, index) => {
      write(heading.value, moment ? panels[index].value(moment) : "");
    });
  };
  watchCurves(context, box, () => boxes);
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (anyOf(changed, "run", "theme", "size", "head", "open", "projector")) draw();
    if (anyOf(changed, "run", "at", "size", "open")) moveCursor();
  };
  return { element: box, update, destroy: () => context.plotly?.purge(plot) };
}

/**
 * The name of a panel, and its value at the cursor.
 * @param {ReplayContext} context
 * @param {Panel} panel
 */
function curveHeading({ say }, panel) {
  const value = element("output", { class: "curve-value", testid: `value-${panel.name}` });
  const name = element("span", { class: "curve-name" }, say(panel.name));
  const title = say(`${panel.name}_title`);
  return { element: element("div", { class: "curve-heading", title }, name, value), value };
}

/**
 * Select the moment where the pointer is pressed; dragging may leave the panels.
 * @param {ReplayContext} context
 * @param {HTMLElement} box
 * @param {() => Box[]} boxes
 */
function watchCurves(context, box, boxes) {
  let pressed = false;
  /** @param {PointerEvent} event */
  const select = (event) => {
    const frame = box.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const panel = boxes().find(
      ({ left, top, width, height }) =>
        x >= left - 8 && x <= left + width + 8 && y >= top - 20 && y <= top + height + 20,
    );
    if (!panel) return;
    const [low, high] = context.range();
    const share = (x - panel.left) / panel.width;
    context.act.goTo(nearestMoment(context.run.moments, low + share * (high - low)));
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed = true;
    box.setPointerCapture(event.pointerId);
    select(event);
  });
  box.addEventListener("pointermove", (event) => {
    if (pressed) select(event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      pressed = false;
    });
  }
  const observer = new ResizeObserver(() => context.touch("size"));
  observer.observe(box);
  context.signal.addEventListener("abort", () => observer.disconnect());
}
