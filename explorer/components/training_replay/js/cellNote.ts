import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { whenOther } from "../../dom/js/store.ts";
import { MEAN } from "../../trace/js/look.ts";
import { plainText } from "../../trace/js/pieceText.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { probeTokens } from "./probeText.ts";
import type { ReplayContext } from "./replayContext.ts";
import { learnsSentences } from "./runData.ts";

/**
 * After a click on a cell: that a moment holds weights alone, and a button that shows how the
 * weight of this cell is computed by the model of the run.
 */
export function createCellNote(
  replay: ReplayContext,
  probe: () => TraceContext,
): Part & { show: (cell: Cell) => void } {
  const { say } = replay;
  const text = element("span", {});
  const button = buttonElement(
    () => open(),
    { class: "quiet", testid: "open-cell" },
    say("cell_open"),
  );
  const looks = { class: "cell-note", testid: "cell-note", role: "status", hidden: true };
  const node = element("span", looks, text, " ", button);
  let chosen: Cell = { query: 0, key: 0 };
  const open = () => {
    const { state, pieces } = probe();
    const { site, layer, head } = state;
    replay.listeners.onCell({
      ...{ site, layer, head, ...chosen },
      text: plainText(probeTokens(pieces).read, learnsSentences(replay.run)),
    });
  };
  const show = (cell: Cell) => {
    const { trace, state } = probe();
    if (trace.rows || state.head === MEAN) return; // they are computed of no single vectors
    chosen = cell;
    node.hidden = false;
    button.hidden = !replay.run.opens;
    const facts = { query: cell.query + 1, key: cell.key + 1 };
    write(text, say(replay.run.opens ? "cell_weights_alone" : "cell_no_model", facts));
  };
  const picture = () => {
    const { site, layer, head, words } = probe().state;
    return [site, layer, head, words];
  };
  const hide = () => {
    node.hidden = true;
  };
  return { element: node, views: [whenOther(picture, hide)], show };
}
