import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { openHeadGrid } from "./headGridView.js";
import { viewListeners } from "./listeners.js";
import { readViewPayload } from "./viewPayload.js";

/** The head grid as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => `${payload.header.language} ${payload.hasValues("norms")}`,
  listeners: viewListeners,
  open: openHeadGrid,
});
