/** Explore as a component of the app's page, which is told what is looked at. */

import { element } from "../../dom/js/element.ts";
import { servedPlotly } from "../../dom/js/plotly.ts";
import { whenever, whenOther } from "../../dom/js/store.ts";
import { mirrorMarks } from "../../page/js/documentMarks.ts";
import { frameShown } from "../../page/js/frame.ts";
import { onPage } from "../../page/js/onPage.ts";
import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { createExplorePage } from "./explorePage.ts";
import { type AppVisit, lessonIn, queryAddress, type Written } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import { serverBackend } from "./serverBackend.ts";

/** What `explorer/components/live/page.py` writes for the component. */
interface ComponentData extends PageData, AppVisit {
  language: string;
  server: string; // address that traces
  visitor: string; // names the person's own models to the server
  followed: number; // grows when the app has another visit shown
}

/** What is looked at, and which visit of the app the browser knew by then. */
type Look = Written & { followed: number };

interface Listeners {
  onLook: (look: Look) => void;
  onFetched: (open: string) => void;
}

export default streamlitComponent<ComponentData, Listeners>({
  read: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
  listeners: ({ setStateValue, setTriggerValue }) => ({
    onLook: (look) => setStateValue("look", look),
    onFetched: (open) => setTriggerValue("fetched", { open }),
  }),
  open: (parent, data, first) => {
    let listeners = first;
    const ended = new AbortController();
    const root = element("div", { class: "page explore" });
    mirrorMarks(root, ended.signal);
    parent.append(root);
    /** Once it is on screen: Streamlit draws its page anew for a report. */
    const report = async (written: Written) => {
      const { followed } = data;
      await frameShown();
      if (!ended.signal.aborted) listeners.onLook({ ...written, followed });
    };
    const page = createExplorePage(data, {
      root,
      address: queryAddress(data, report, ended.signal),
      backend: () => serverBackend(data),
      plotly: servedPlotly,
      fetched: (open) => listeners.onFetched(open),
      language: data.language,
    });
    /** A card of the text on screen, which the browser shows by itself, has an entry of its own. */
    const followCard = whenOther(
      () => [onPage.lesson?.look()],
      () => {
        const { lesson } = onPage;
        if (lesson?.look() && lesson.parameters() !== lessonIn(location.search)) page.link();
      },
    );
    whenever(followCard, ended.signal);
    /** Take over what the app sends now; the parts of the page hold the same objects. */
    const take = ({ models, strings, ...next }: ComponentData) => {
      const listed = JSON.stringify(data.models) !== JSON.stringify(models);
      const spoken = data.language !== next.language;
      data.models.splice(0, data.models.length, ...models);
      Object.assign(data.strings, strings);
      Object.assign(data, next);
      return listed || spoken;
    };
    return {
      update: (next) => {
        const { followed, visitor } = data;
        const redrawn = take(next);
        const other = data.followed !== followed && data.visitor === visitor; // of this session
        if (other) page.follow(data.visit); // first: a model may be gone
        if (redrawn) page.speak(data.language);
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
