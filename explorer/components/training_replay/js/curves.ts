import type { Part } from "../../dom/js/element.ts";
import { assign, element, write } from "../../dom/js/element.ts";
import { shortValue } from "../../dom/js/numbers.ts";
import { anyOf } from "../../dom/js/store.ts";
import type { Box } from "./curveFigure.ts";
import { heightOf, panelBoxes, panelFigure, roomForNames, valueAxis } from "./curveFigure.ts";
import type { Panel } from "./curvePanels.ts";
import { createCurveTooltip } from "./curveTooltip.ts";
import { createEndLabels, endLabels } from "./endLabels.ts";
import type { ReplayContext } from "./replayContext.ts";
import type { RunData } from "./runData.ts";
import { nearestMoment } from "./runData.ts";

const LABEL_PITCH = 15; // px between two names of lines

/**
 * Panels of curves with one cursor; a click or a drag selects the moment there.
 * @param columnsNow how many panels are beside each other
 */
export function createCurves(
  context: ReplayContext,
  panels: Panel[],
  columnsNow: () => number,
  testid: string,
): Part & { destroy: () => void } {
  const plot = element("div", { class: "curve-plot", "aria-hidden": "true" });
  const cursors = panels.map(() => element("i", { class: "cursor", testid: `${testid}-cursor` }));
  const headings = panels.map((panel) => curveHeading(context, panel));
  const labels = createEndLabels();
  const stars = panels.map(() => bestStar(context));
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
    labels.element,
    ...headings.map((heading) => heading.element),
    ...cursors,
    ...stars,
    steps,
    note,
  );
  let boxes: Box[] = [];
  let [busy, requested] = [false, false];
  /** One drawing at a time, and after it only the latest request. */
  const draw = async () => {
    const size = { width: box.clientWidth, height: box.clientHeight };
    if (size.width < 60 || size.height < 60) return;
    const columns = columnsNow();
    const roomy = panels.map((panel) => ({
      ...panel,
      room: roomForNames(panel, panel.lines(context), context.palette),
    }));
    boxes = panelBoxes(roomy, columns, size, context.state.projector);
    headings.forEach(({ element: heading }, index) => {
      heading.style.transform = `translate(${boxes[index].left}px, ${boxes[index].top - 20}px)`;
      const { left, width } = boxes[index];
      const free = columns === 1 ? size.width - left : width; // above the names of the lines, too
      heading.style.width = `${free}px`;
    });
    const { every, moments } = context.run;
    write(note, moments.length ? "" : context.say("no_moment", { every }));
    annotate();
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
  /** The names of the lines, and the star of the best moment. */
  const annotate = () => {
    const range = context.range();
    const pitch = LABEL_PITCH * (context.state.projector ? 1.4 : 1);
    const drawn = panels.map((panel) => panel.lines(context));
    labels.draw(
      panels.flatMap((panel, index) => endLabels(panel, drawn[index], boxes[index], range, pitch)),
    );
    const { moments, best: step } = context.run;
    const best = moments.length > 1 ? moments.find((moment) => moment.step === step) : undefined;
    panels.forEach((panel, index) => {
      const { left, width } = boxes[index];
      const axis = valueAxis(panel, drawn[index]);
      const loss = panel.starred ? (best?.held_out ?? null) : null;
      const top = loss === null ? null : heightOf(boxes[index], axis, loss);
      stars[index].hidden = top === null;
      if (!best || top === null) return;
      const x = left + ((best.step - range[0]) / (range[1] - range[0])) * width;
      stars[index].style.transform = `translate(${x}px, ${top}px) translate(-50%, -50%)`;
      const title = context.say("best_title", { step: best.step, loss: shortValue(loss) });
      assign(stars[index], "title", title);
      assign(stars[index], "aria-label", title);
    });
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
      write(heading.name, context.say(headingOf(context.run, panels[index])));
      write(heading.value, moment ? panels[index].value(moment) : "");
    });
  };
  watchCurves(context, box, panels, () => boxes, `${testid}-tooltip`);
  const update = (changed: Set<string>) => {
    if (anyOf(changed, "run", "theme", "size", "head", "open", "projector")) draw();
    if (anyOf(changed, "run", "at", "size", "open")) moveCursor();
  };
  return { element: box, update, destroy: () => context.plotly?.purge(plot) };
}

/** The name of a panel, and its value at the cursor. */
function curveHeading({ run, say }: ReplayContext, panel: Panel) {
  const value = element("output", { class: "curve-value", testid: `value-${panel.name}` });
  const name = element("span", { class: "curve-name" }, say(headingOf(run, panel)));
  const title = say(`${panel.name}_title`);
  return { element: element("div", { class: "curve-heading", title }, name, value), name, value };
}

/** The key of a panel's name: the loss of batches is not in the unit of the held-out loss. */
export function headingOf(run: Pick<RunData, "batch_loss">, { name }: Pick<Panel, "name">) {
  return name === "loss" && run.batch_loss ? "loss_batches" : name;
}

/** The mark of the best moment; a click shows that moment. */
function bestStar(context: ReplayContext) {
  const show = () => {
    const { moments, best } = context.run;
    if (best !== null) context.act.goTo(nearestMoment(moments, best));
  };
  const star = element("button", { type: "button", class: "best-star", testid: "best" }, "★");
  star.addEventListener("pointerdown", (event) => event.stopPropagation());
  star.addEventListener("click", show);
  star.hidden = true;
  return star;
}

/**
 * Select the moment where the pointer is pressed, and show the values under it; dragging may leave
 * the panels.
 * @param testid of the values
 */
function watchCurves(
  context: ReplayContext,
  box: HTMLElement,
  panels: Panel[],
  boxes: () => Box[],
  testid: string,
) {
  let pressed = false;
  const tooltip = createCurveTooltip(context, testid);
  context.root.append(tooltip.element);
  /** The panel and the index of the moment under the pointer. */
  const find = (event: PointerEvent) => {
    const frame = box.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const index = boxes().findIndex(
      ({ left, top, width, height }) =>
        x >= left - 8 && x <= left + width + 8 && y >= top - 20 && y <= top + height + 20,
    );
    if (index < 0) return null;
    const { left, width } = boxes()[index];
    const [low, high] = context.range();
    const step = low + ((x - left) / width) * (high - low);
    return { panel: panels[index], moment: nearestMoment(context.run.moments, step) };
  };
  const select = (event: PointerEvent) => {
    const found = find(event);
    if (found) context.act.goTo(found.moment);
  };
  const hover = (event: PointerEvent) => {
    const found = event.pointerType === "touch" ? null : find(event);
    const moment = found && context.run.moments[found.moment];
    if (moment) tooltip.show(found.panel, moment.step, { x: event.clientX, y: event.clientY });
    else tooltip.hide();
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed = true;
    box.setPointerCapture(event.pointerId);
    select(event);
  });
  box.addEventListener("pointermove", (event) => {
    if (pressed) select(event);
    hover(event);
  });
  box.addEventListener("pointerleave", tooltip.hide);
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      pressed = false;
    });
  }
  const observer = new ResizeObserver(() => context.touch("size"));
  observer.observe(box);
  context.signal.addEventListener("abort", () => observer.disconnect());
}
