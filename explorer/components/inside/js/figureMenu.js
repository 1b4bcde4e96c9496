import { figureButtons } from "../../shared/js/figureButtons.js";
import { saveMenu } from "../../shared/js/saveMenu.js";
import { layerNumber, shownCell } from "../../shared/js/stepState.js";

/** @import { Figure } from "../../shared/js/savedFile.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * @typedef {(width: number) => Figure} Draw px
 *
 * @typedef {object} FigureMenu the menu that saves what the panel shows of a cell
 * @property {HTMLElement} element
 * @property {(draw: Draw | null) => void} offer null where there is no figure of it
 */

/**
 * @param {TraceContext} context
 * @returns {FigureMenu}
 */
export function createFigureMenu(context) {
  const { say, signal } = context;
  /** @type {Draw | null} */
  let draw = null;
  const buttons = figureButtons(say, {
    figure: (width) => draw?.(width) ?? null,
    fileName: () => fileName(context),
    prefix: "inside-",
  });
  const menu = saveMenu(say, signal, buttons, "inside_save");
  /** @type {FigureMenu["offer"]} */
  const offer = (next) => {
    draw = next;
    menu.hidden = next === null;
  };
  return { element: menu, offer };
}

/**
 * A file name that tells which cell is shown, without its ending.
 * @param {TraceContext} context
 */
function fileName(context) {
  const { site, layer, head, insideView } = context.state;
  const { query, key } = shownCell(context) ?? { query: 0, key: 0 };
  const kind = insideView === "score" ? "score" : "calculation";
  const place = `${site}-L${layerNumber(context, layer)}-H${head}`;
  return `${kind}-${place}-query${query + 1}-key${key + 1}`;
}
