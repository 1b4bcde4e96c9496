import { element, write } from "../../shared/js/element.js";
import { anyOf } from "../../shared/js/store.js";
import { MEAN } from "../../shared/js/trace.js";
import { textOf } from "./probeText.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { ReplayContext } from "./replayContext.js" */

/**
 * After a click on a cell: that a moment holds weights alone, and a button that shows how the
 * weight of this cell is computed by the model of the run.
 * @param {ReplayContext} replay
 * @param {() => TraceContext} probe
 * @returns {Part & {show: (cell: Cell) => void}}
 */
export function createCellNote(replay, probe) {
  const { say } = replay;
  const text = element("span", {});
  const button = element(
    "button",
    { type: "button", class: "quiet", testid: "open-cell", on: { click: () => open() } },
    say("cell_open"),
  );
  const looks = { class: "cell-note", testid: "cell-note", role: "status", hidden: true };
  const node = element("span", looks, text, " ", button);
  /** @type {Cell} */
  let chosen = { query: 0, key: 0 };
  const open = () => {
    const { state, pieces } = probe();
    const { site, layer, head } = state;
    replay.listeners.onCell({
      ...{ site, layer, head, ...chosen },
      text: textOf(replay.run, pieces.source),
    });
  };
  /** @param {Cell} cell */
  const show = (cell) => {
    const { trace, state } = probe();
    if (trace.rows || state.head === MEAN) return; // they are computed of no single vectors
    chosen = cell;
    node.hidden = false;
    button.hidden = !replay.run.opens;
    const facts = { query: cell.query + 1, key: cell.key + 1 };
    write(text, say(replay.run.opens ? "cell_weights_alone" : "cell_no_model", facts));
  };
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (anyOf(changed, "site", "layer", "head", "words")) node.hidden = true;
  };
  return { element: node, update, show };
}
