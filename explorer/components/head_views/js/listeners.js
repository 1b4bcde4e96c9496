import { pictureMark } from "../../shared/js/envelope.js";

/** @import { StreamlitArguments } from "../../shared/js/streamlitComponent.js" */
/** @import { Listeners } from "./viewFrame.js" */

/**
 * How a head view reports to Streamlit.
 * @param {StreamlitArguments} call
 * @returns {Listeners}
 */
export function viewListeners({ data, setStateValue, setTriggerValue }) {
  return {
    onState: (selection) =>
      setStateValue("selection", { ...selection, picture: pictureMark(data) }),
    onCell: (cell) => setTriggerValue("cell", cell),
    onMissing: () => setTriggerValue("missing", true),
  };
}
