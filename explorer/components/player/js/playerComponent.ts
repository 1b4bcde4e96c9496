import { servedPlotly } from "../../dom/js/plotly.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { streamlitReports } from "../../trace/js/selectionReport.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import { type Listeners, mountPlayer } from "./player.ts";

/** The page has the language of the player. */
function setPageLanguage(trace: Trace) {
  document.documentElement.lang = trace.header.language;
}

/** The player as a Streamlit component. */
export default streamlitComponent({
  read: (bytes) => readTrace(bytes),
  listeners: (call): Listeners => ({
    ...streamlitReports(call),
    onForce: (step, id, alone) =>
      call.setTriggerValue("force", { step, id, ...(alone ? { alone } : {}) }),
    onUnforce: (step) => call.setTriggerValue("unforce", step),
    onChange: (change) => call.setTriggerValue("change", change),
    onReset: () => call.setTriggerValue("reset", true),
  }),
  open: (parent, trace, listeners) => {
    setPageLanguage(trace);
    const player = mountPlayer(parent, trace, { plotly: servedPlotly, ...listeners });
    const update = (next: Trace) => {
      setPageLanguage(next);
      player.update(next);
    };
    return { ...player, update };
  },
});
