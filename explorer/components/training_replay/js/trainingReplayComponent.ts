import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { readRunData } from "./runData.ts";
import { mountTrainingReplay } from "./trainingReplay.ts";

export { mountFollowedReplay } from "./followedReplay.ts";

/** The training replay as a Streamlit component. */
export default streamlitComponent({
  read: readRunData,
  identity: ({ language, translates, continues }) => `${language} ${translates} ${continues}`,
  listeners: ({ setTriggerValue }) => ({
    onLink: () => setTriggerValue("link", true),
    onCell: (cell) => setTriggerValue("cell", cell),
  }),
  open: mountTrainingReplay,
});
