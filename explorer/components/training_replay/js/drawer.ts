import { element, type Part, write } from "../../dom/js/element.ts";
import { WIDE_WIDTH } from "../../dom/js/lengths.ts";
import { createStore, measured, type View } from "../../dom/js/store.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { MORE_PANELS, panelsOf } from "./curvePanels.ts";
import { createCurves } from "./curves.ts";
import { curvesFigure } from "./curvesFigure.ts";
import type { ReplayContext } from "./replayContext.ts";

/** More curves and the log, collapsed at first. */
export function createDrawer(context: ReplayContext): Part {
  const { values: drawer, set } = createStore({ open: false });
  const width = measured(() => context.root.clientWidth);
  const columns = () => (width() >= WIDE_WIDTH ? MORE_PANELS.length : width() >= 700 ? 3 : 1);
  const curves = createCurves(context, MORE_PANELS, columns, "more-curves");
  const saving = figureButtons(context.sayOfPlayer, {
    figure: (width) => curvesFigure(context, panelsOf(context.run), width),
    fileName: () => `training-${context.run.name}`,
    prefix: "curves-",
  });
  const log = element("pre", { class: "log", testid: "log", title: context.say("log_title") });
  const node = element(
    "details",
    { class: "drawer", testid: "drawer", on: { toggle: () => opened() } },
    element("summary", {}, context.say("more")),
    curves.element,
    element("div", { class: "curves-save" }, context.say("curves_save"), ...saving),
    element("div", { class: "log-name" }, context.say("log")),
    log,
  );
  const opened = () => {
    set({ open: node.open });
    context.screen.flush();
    if (node.open) node.scrollIntoView({ block: "end" });
  };
  const whenOpen = (view: View) => () => {
    if (drawer.open) view();
  };
  const placeRows = () => {
    curves.element.style.setProperty("--rows", String(Math.ceil(MORE_PANELS.length / columns())));
  };
  const writeLog = () => write(log, context.run.log.join("\n") || context.say("no_log"));
  return {
    element: node,
    views: [placeRows, ...(curves.views ?? []), writeLog].map(whenOpen),
    pictures: curves.pictures?.map(whenOpen),
  };
}
