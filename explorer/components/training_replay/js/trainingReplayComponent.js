import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { readRunData } from "./runData.js";
import { mountTrainingReplay } from "./trainingReplay.js";

export { mountFollowedReplay } from "./followedReplay.js";

/** The training replay as a Streamlit component. */
export default streamlitComponent({
  read: readRunData,
  identity: (run) => `${run.language} ${run.translates}`,
  listeners: ({ setTriggerValue }) => ({
    onLink: () => setTriggerValue("link", true),
    onCell: (cell) => setTriggerValue("cell", cell),
  }),
  open: mountTrainingReplay,
});
