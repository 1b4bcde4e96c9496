import type { StreamlitArguments } from "../../page/js/streamlitComponent.ts";
import { streamlitReports } from "../../trace/js/selectionReport.ts";
import type { Listeners } from "./viewFrame.ts";

/** How a head view reports to Streamlit. */
export function viewListeners(call: StreamlitArguments): Listeners {
  return { ...streamlitReports(call), onCell: (cell) => call.setTriggerValue("cell", cell) };
}
