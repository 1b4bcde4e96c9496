/** What lies over the curves: the names of the panels, the cursor, the star of the best moment. */

import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import { shortValue } from "../../dom/js/numbers.ts";
import { heightOf, valueAxis } from "./curveAxes.ts";
import { bestMoment } from "./curveChart.ts";
import { headingOf, type Panel } from "./curvePanels.ts";
import { type CurveSpace, HEADING } from "./curveSpace.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment } from "./runData.ts";

/** The names of the panels, their values at the cursor, and why there are no curves. */
export function createHeadings(context: ReplayContext, space: CurveSpace, testid: string) {
  const headings = space.panels.map((panel) => curveHeading(context, panel));
  const note = element("p", { class: "curve-note", testid: `${testid}-note` });
  const place = () => {
    const boxes = space.boxes();
    boxes.forEach(({ left, top, width: across }, index) => {
      const { style } = headings[index].element;
      style.transform = `translate(${left}px, ${top - space.headingLines() * HEADING}px)`;
      const free = space.columns() === 1 ? space.width() - left : across; // above the names of the lines, too
      style.width = `${free}px`;
    });
    const { every, moments, report } = context.run;
    const why = report.going ? "no_moment" : "never_moment";
    write(note, moments.length ? "" : context.say(why, { every }));
    const { top, height } = boxes[0] ?? { top: 0, height: 0 }; // clear of the other headings
    note.style.top = `${top + height / 2}px`;
  };
  const writeValues = () => {
    const moment = context.run.moments[context.state.at];
    headings.forEach((heading, index) => {
      const key = headingOf(context.run, space.panels[index]);
      write(heading.name, context.say(key));
      if (key === "bleu_all") assign(heading.element, "title", context.say("bleu_all_title"));
      write(heading.value, moment ? space.panels[index].value(moment) : "");
    });
  };
  const elements = [...headings.map((heading) => heading.element), note];
  return { elements, pictures: [place, writeValues] };
}

/** The name of a panel, and its value at the cursor. */
function curveHeading({ run, say }: ReplayContext, panel: Panel) {
  const value = element("output", { class: "curve-value", testid: `value-${panel.name}` });
  const name = element("span", { class: "curve-name" }, say(headingOf(run, panel)));
  const title = say(`${panel.name}_title`);
  return { element: element("div", { class: "curve-heading", title }, name, value), name, value };
}

/** The cursor at the selected moment, in each panel. */
export function createCursors(context: ReplayContext, space: CurveSpace, testid: string) {
  const cursors = space.panels.map(() =>
    element("i", { class: "cursor", testid: `${testid}-cursor` }),
  );
  const move = () => {
    const moment = context.run.moments[context.state.at];
    cursors.forEach((cursor, index) => {
      const box = space.boxes()[index];
      const x = moment && box ? space.placeOf(moment.step, box) : null;
      cursor.hidden = x === null;
      if (x === null) return;
      cursor.style.transform = `translate(${x - 1}px, ${box.top}px)`;
      cursor.style.height = `${box.height}px`;
    });
  };
  return { elements: cursors, pictures: [move] };
}

/** What shows the best moment, over the mark that the chart has of it. */
export function createStars(context: ReplayContext, space: CurveSpace) {
  const stars = space.panels.map(() => bestStar(context));
  const place = () => {
    const best = bestMoment(context.run);
    space.panels.forEach((panel, index) => {
      const box = space.boxes()[index];
      const loss = (panel.starred && best?.held_out) ?? null;
      const x = box && best ? space.placeOf(best.step, box) : null;
      stars[index].hidden = loss === null || loss === false || x === null;
      if (!best || !loss || x === null) return;
      const y = heightOf(box, valueAxis(panel, panel.lines(context)), loss);
      stars[index].style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`;
      const title = context.say("best_title", { step: best.step, loss: shortValue(loss) });
      assign(stars[index], "title", title);
      assign(stars[index], "aria-label", title);
    });
  };
  return { elements: stars, pictures: [place] };
}

function bestStar(context: ReplayContext) {
  const show = () => {
    const { moments, best } = context.run;
    if (best !== null) context.act.goTo(nearestMoment(moments, best));
  };
  const star = buttonElement(show, { class: "best-star", testid: "best", hidden: true });
  star.addEventListener("pointerdown", (event) => event.stopPropagation());
  return star;
}
