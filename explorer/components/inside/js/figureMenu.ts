import type { Figure } from "../../dom/js/savedFile.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { layerNumber, shownCell } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

export type Draw = (width: number) => Figure; // px

/** The menu that saves what the panel shows of a cell. */
export function createFigureMenu(context: TraceContext) {
  const { say, signal } = context;
  let draw: Draw | null = null;
  const buttons = figureButtons(say, {
    figure: (width) => draw?.(width) ?? null,
    fileName: () => fileName(context),
    prefix: "inside-",
  });
  const menu = saveMenu(say, signal, buttons, "inside_save");
  /** @param next null where there is no figure */
  const offer = (next: Draw | null) => {
    draw = next;
    menu.hidden = next === null;
  };
  return { element: menu, offer };
}

/** A file name that tells which cell is shown, without its ending. */
function fileName(context: TraceContext) {
  const { site, layer, head, insideView } = context.state;
  const { query, key } = shownCell(context) ?? { query: 0, key: 0 };
  const kind = insideView === "score" ? "score" : "calculation";
  const place = `${site}-L${layerNumber(context, layer)}-H${head}`;
  return `${kind}-${place}-query${query + 1}-key${key + 1}`;
}
