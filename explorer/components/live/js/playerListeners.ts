/** What the player reports of the trace of a request, and asks for: other tokens in its output. */

import type { Listeners } from "../../player/js/player.ts";
import { type Change, changed } from "../../trace/js/interventions.ts";
import type { Selection } from "../../trace/js/look.ts";
import { sameSource } from "./address.ts";
import type { LiveRequest } from "./modelWorker.ts";
import { type PageState, shownRequest, type TraceRequest } from "./pageState.ts";
import type { TracePicture } from "./tracePicture.ts";

interface Heard {
  ask: (asked: TraceRequest) => unknown;
  link: (selection: Selection, replace: boolean) => void; // write the address
  picture: Pick<TracePicture, "selection" | "keptView">;
}

/** Listeners for a trace of a host: a guest changes nothing of it. */
export const READ_ONLY: Listeners = {
  onState: undefined,
  onForce: undefined,
  onUnforce: undefined,
  onChange: undefined,
  onReset: undefined,
  resources: undefined,
};

export function playerListeners(
  request: LiveRequest,
  state: Readonly<Pick<PageState, "asked" | "onScreen">>,
  { ask, link, picture }: Heard,
) {
  const change = (
    changes: Partial<Pick<LiveRequest, "forced" | "interventions">>,
    step: number | null,
  ) => {
    const now = picture.selection();
    if (!now || !sameSource(state.asked.request, request)) return; // is being replaced
    const { site, layer, head, ahead } = now;
    ask({
      request: { ...request, ...changes },
      view: { site, layer, head, ahead, step: step ?? now.step, ...picture.keptView(false) },
    });
  };
  return {
    onState: (selection: Selection) => {
      if (state.asked.request !== shownRequest(state)) return; // the address is of a text on its way
      link(selection, true);
    },
    onForce: (step: number, id: number, alone: boolean) => {
      const kept = request.forced.filter(([at]) => (alone ? at !== step : at < step));
      const forced = [...kept, [step, id]] as [number, number][];
      change({ forced: forced.sort(([one], [other]) => one - other) }, step);
    },
    onUnforce: (step: number) =>
      change({ forced: request.forced.filter(([at]) => at !== step) }, step),
    onChange: (lines: Change) =>
      change({ interventions: changed(request.interventions, lines) }, null),
    onReset: () => change({ forced: [], interventions: [] }, null),
  };
}
