import { assign, element, write } from "../../shared/js/element.js";
import { visibleRows } from "../../shared/js/guess.js";
import { currentRow, rowCodes, shownCell, siteOf } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { MEAN } from "../../shared/js/trace.js";
import { createCalculation } from "./calculation.js";
import { createVectorLoading } from "./headVectors.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * The panel below the map: how the weight of one cell arises.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createInside(context) {
  const { say } = context;
  const title = element("h2", { class: "inside-title", testid: "inside-title" });
  const close = element(
    "button",
    { type: "button", class: "quiet", testid: "inside-close", on: { click: () => hide(context) } },
    say("inside_close"),
  );
  const note = element("p", { class: "note", testid: "inside-note" });
  const calculation = createCalculation(context);
  const node = element(
    "section",
    { class: "inside", "aria-label": say("inside"), testid: "inside" },
    element("header", { class: "inside-heading" }, title, close),
    note,
    calculation.element,
  );
  const vectors = createVectorLoading(context, () => context.touch("vectors"));
  let open = false;
  /** @param {Set<string>} changed */
  const update = (changed) => {
    const shown = ["inside", "vectors", "trace", "site", "layer", "head", "step", "guess", "ahead"];
    if (!anyOf(changed, ...shown, "size", "projector")) return;
    const cell = isOffered(context) ? shownCell(context) : null;
    const opened = cell !== null && !open;
    if (opened || (open && !cell)) requestAnimationFrame(() => context.touch("size"));
    open = cell !== null;
    node.hidden = !open;
    context.root.toggleAttribute("data-inside", open);
    if (!cell) return;
    const problem = obstacle(context, cell);
    if (!problem) vectors.request();
    const head = problem ? null : vectors.now();
    const waiting = say(vectors.failed() ? "inside_failed" : "inside_loading");
    note.hidden = head !== null;
    write(note, problem || waiting);
    calculation.element.hidden = head === null;
    write(title, calculation.title(cell));
    if (head) calculation.draw(head, cell);
    if (opened) requestAnimationFrame(() => node.scrollIntoView({ block: "nearest" }));
  };
  return { element: node, update };
}

/**
 * The button that opens the panel, and closes it again.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function insideButton(context) {
  const { say } = context;
  const button = element(
    "button",
    {
      type: "button",
      class: "quiet inside-open",
      testid: "inside-open",
      title: say("inside_open_title"),
      on: { click: () => lookInside(context, context.state.inside ? null : undefined) },
    },
    say("inside"),
  );
  const update = () => {
    button.hidden = !isOffered(context);
    assign(button, "aria-pressed", context.state.inside ? "true" : "false");
  };
  return { element: button, update };
}

/**
 * Show how the weight of a cell arises; without a cell, of the one with the largest weight in the
 * row; null ends it.
 * @param {TraceContext} context
 * @param {Cell | null} [cell]
 */
export function lookInside(context, cell) {
  if (isOffered(context)) context.set({ inside: cell === undefined ? strongest(context) : cell });
}

/**
 * Show how the weight of a cell arises that was clicked; a touch on a phone reads its hover text,
 * while the panel is closed, which would open far below.
 * @param {TraceContext} context
 * @param {Cell} cell
 */
export function lookAtCell(context, cell) {
  const closed = context.state.inside === null && context.root.dataset.narrow !== undefined;
  if (!closed) lookInside(context, cell);
}

/** @param {TraceContext} context */
function hide(context) {
  context.set({ inside: null });
}

/**
 * Whether the server has what the weights are computed from; a saved page has weights alone.
 * @param {TraceContext} context
 */
export function isOffered({ pieces }) {
  return pieces.header.inside !== undefined;
}

/**
 * The cell with the largest weight in the current row or, without one, in the first.
 * @param {TraceContext} context
 * @returns {Cell}
 */
function strongest(context) {
  const { layer, head } = context.state;
  const query = Math.max(currentRow(context), 0);
  const codes = rowCodes(siteOf(context), layer, head, query);
  return { query, key: codes.indexOf(Math.max(...codes)) };
}

/**
 * Why there is no arithmetic of a cell; "" where there is.
 * @param {TraceContext} context
 * @param {Cell} cell
 */
function obstacle(context, { query }) {
  const { say, state, trace } = context;
  if (trace.rows) return say("inside_words");
  if (state.head === MEAN) return say("inside_mean");
  return query >= visibleRows(context) ? say("inside_hidden") : "";
}
