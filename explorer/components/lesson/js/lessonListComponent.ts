import { readEnvelope } from "../../page/js/envelope.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { type ListContent, type ListListeners, mountList } from "./lessonList.ts";

/** The list of lessons as a Streamlit component. */
export default streamlitComponent({
  read: (bytes: Uint8Array): ListContent => readEnvelope<ListContent>(bytes).header,
  listeners: ({ setTriggerValue }): ListListeners => ({
    onOpen: (name) => setTriggerValue("open", name),
  }),
  open: mountList,
});
