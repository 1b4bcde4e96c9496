/** Explore as a component of the app's page, which is told what is looked at. */

import { element } from "../../dom/js/element.ts";
import { servedPlotly } from "../../dom/js/plotly.ts";
import { frameShown } from "../../page/js/frame.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { createExplorePage } from "./explorePage.ts";
import { queryAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import { serverBackend } from "./serverBackend.ts";

/** What `explorer/components/live/page.py` writes for the component. */
interface ComponentData extends PageData {
  language: string;
  server: string; // address that traces
  visitor: string; // names the person's own models to the server
  kept: string; // parameters of what was on screen before another page of the app; "" = nothing
}

interface Listeners {
  onLook: (parameters: string) => void; // of the address
}

export default streamlitComponent<ComponentData, Listeners>({
  read: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
  listeners: ({ setStateValue }) => ({ onLook: (parameters) => setStateValue("look", parameters) }),
  identity: ({ models, server, visitor }) => JSON.stringify([models, server, visitor]),
  open: (parent, data, first) => {
    let listeners = first;
    let { language } = data;
    const ended = new AbortController();
    const root = element("div", { class: "page explore" });
    parent.append(root);
    /** Once it is on screen: Streamlit draws its page anew for a report. */
    const report = async (parameters: string) => {
      await frameShown();
      if (!ended.signal.aborted) listeners.onLook(parameters);
    };
    const page = createExplorePage(data, {
      root,
      address: queryAddress(data.kept, report, ended.signal),
      backend: () => serverBackend(data.server, data.visitor),
      plotly: servedPlotly,
      language,
    });
    return {
      update: (next) => {
        if (next.language !== language) page.speak(next.language);
        ({ language } = next);
      },
      listen: (next) => {
        listeners = next;
      },
      destroy: () => {
        ended.abort();
        page.destroy();
        root.remove();
      },
    };
  },
});
