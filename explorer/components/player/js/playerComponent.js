import { pictureMark } from "../../shared/js/envelope.js";
import { servedPlotly } from "../../shared/js/plotly.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { readTrace } from "../../shared/js/trace.js";
import { mountPlayer } from "./player.js";

/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { Listeners } from "./player.js" */

/**
 * The page has the language of the player.
 * @param {Trace} trace
 */
function setPageLanguage(trace) {
  document.documentElement.lang = trace.header.language;
}

/** The player as a Streamlit component. */
export default streamlitComponent({
  read: (bytes) => readTrace(bytes),
  /** @returns {Listeners} */
  listeners: ({ data, setStateValue, setTriggerValue }) => ({
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
    const update = (/** @type {Trace} */ next) => {
      setPageLanguage(next);
      player.update(next);
    };
    return { ...player, update };
  },
});
