import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { readRunData, runKind } from "./runData.ts";
import { mountTrainingReplay } from "./trainingReplay.ts";

/** The training replay as a Streamlit component. */
export default streamlitComponent({
  read: readRunData,
  identity: runKind,
  listeners: ({ setTriggerValue }) => ({
    onLink: () => setTriggerValue("link", true),
    onCell: (cell) => setTriggerValue("cell", cell),
  }),
  open: mountTrainingReplay,
});
