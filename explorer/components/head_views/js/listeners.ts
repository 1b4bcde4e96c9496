import { pictureMark } from "../../page/js/envelope.ts";
import type { StreamlitArguments } from "../../page/js/streamlitComponent.ts";
import type { Listeners } from "./viewFrame.ts";

/** How a head view reports to Streamlit. */
export function viewListeners({
  data,
  setStateValue,
  setTriggerValue,
}: StreamlitArguments): Listeners {
  return {
    onState: (selection) =>
      setStateValue("selection", { ...selection, picture: pictureMark(data) }),
    onCell: (cell) => setTriggerValue("cell", cell),
    onMissing: () => setTriggerValue("missing", true),
  };
}
