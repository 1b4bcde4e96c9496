/** What the player reports of the trace of a request, and asks for: other tokens in its output. */

import type { Selection } from "../../trace/js/look.ts";
import { sameSource } from "./address.ts";
import type { LivePage } from "./livePage.ts";
import type { LiveRequest } from "./modelWorker.ts";

export function playerListeners(page: LivePage, request: LiveRequest) {
  const force = (forced: [number, number][], step: number) => {
    const now = page.picture.selection();
    if (!now || !sameSource(page.asked.request, request)) return; // is being replaced
    const { site, layer, head, ahead } = now;
    const view = { site, layer, head, ahead, step, ...page.keptView() };
    page.ask({ request: { ...request, forced }, view });
  };
  return {
    onState: (selection: Selection) => {
      page.messages.use();
      if (page.asked.request !== page.shown) return; // the address is of a text on its way
      page.writeAddress(selection, true);
    },
    onForce: (step: number, id: number, alone: boolean) => {
      const kept = request.forced.filter(([at]) => (alone ? at !== step : at < step));
      const forced = [...kept, [step, id]] as [number, number][];
      force(
        forced.sort(([one], [other]) => one - other),
        step,
      );
    },
    onUnforce: (step: number) =>
      force(
        request.forced.filter(([at]) => at !== step),
        step,
      ),
    onReset: () => force([], page.picture.selection()?.step ?? 1),
  };
}
