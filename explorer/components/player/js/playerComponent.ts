import { servedPlotly } from "../../dom/js/plotly.ts";
import { pictureMark } from "../../page/js/envelope.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { readTrace, type Trace } from "../../trace/js/trace.ts";
import { type Listeners, mountPlayer } from "./player.ts";

/** The page has the language of the player. */
function setPageLanguage(trace: Trace) {
  document.documentElement.lang = trace.header.language;
}

/** The player as a Streamlit component. */
export default streamlitComponent({
  read: (bytes) => readTrace(bytes),
  listeners: ({ data, setStateValue, setTriggerValue }): Listeners => ({
    onState: (selection) =>
      setStateValue("selection", { ...selection, picture: pictureMark(data) }),
    onForce: (step, id, alone) =>
      setTriggerValue("force", { step, id, ...(alone ? { alone } : {}) }),
    onUnforce: (step) => setTriggerValue("unforce", step),
    onReset: () => setTriggerValue("reset", true),
    onMissing: () => setTriggerValue("missing", true),
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
