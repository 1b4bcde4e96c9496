import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { streamlitReports } from "../../trace/js/selectionReport.ts";
import { openHeadGrid } from "./headGridView.ts";
import { readViewPayload } from "./viewPayload.ts";

/** The head grid as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => payload.header.language,
  listeners: streamlitReports,
  open: openHeadGrid,
});
