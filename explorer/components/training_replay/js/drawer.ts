import type { Part } from "../../dom/js/element.ts";
import { drawParts, element, write } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { MORE_PANELS, panelsOf } from "./curvePanels.ts";
import { createCurves } from "./curves.ts";
import { curvesFigure } from "./curvesFigure.ts";
import type { ReplayContext } from "./replayContext.ts";

/** More curves and the log, collapsed at first. */
export function createDrawer(context: ReplayContext): Part & { destroy: () => void } {
  const columns = () => {
    const width = context.root.clientWidth;
    return width >= 1700 ? MORE_PANELS.length : width >= 700 ? 3 : 1;
  };
  const curves = createCurves(context, MORE_PANELS, columns, "more-curves");
  const saving = figureButtons((key) => fillIn(context.run.player, key), {
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
    context.touch("open");
    context.screen.flush();
    if (node.open) node.scrollIntoView({ block: "end" });
  };
  const update = (changed: Set<string>) => {
    if (!node.open) return;
    curves.element.style.setProperty("--rows", String(Math.ceil(MORE_PANELS.length / columns())));
    drawParts([curves], changed, context.screen);
    write(log, context.run.log.join("\n") || context.say("no_log"));
  };
  return { element: node, update, destroy: curves.destroy };
}
