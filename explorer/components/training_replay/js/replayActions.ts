import type { Move } from "../../trace/js/actions.ts";
import { createStepper } from "../../trace/js/stepper.ts";
import type { ReplayContext } from "./replayContext.ts";

export type ReplayActions = Record<Move | "pause" | "follow", () => void> & {
  goTo: (index: number) => void;
  chooseHead: (layer: number, head: number) => void;
};

const PLAY_PACE: [number, number] = [60, 700]; // ms a moment, at least and at most

/** What the visitor can do, by button, slider, curve or key. */
export function createReplayActions(context: ReplayContext): ReplayActions {
  const { state, set } = context;
  const last = () => context.run.moments.length - 1;
  const show = (index: number) => {
    if (last() < 0) return;
    set({ at: Math.max(0, Math.min(last(), index)), following: false, hinted: true });
  };
  const stepper = createStepper({
    state,
    set,
    count: () => last() + 1,
    pace: PLAY_PACE,
    begin: () => {
      if (last() < 1) return false;
      if (state.at >= last()) show(0);
      return true;
    },
    forward: () => {
      const { at } = state;
      show(at + 1);
      return state.at > at;
    },
  });
  const goTo = (index: number) => {
    stepper.pause();
    show(index);
  };
  const follow = () => {
    if (!context.run.report.going) return;
    stepper.pause();
    set({ following: true, at: last() });
  };
  const chooseHead = (layer: number, head: number) => {
    set({ headChosen: true });
    context.choose({ site: context.run.site, layer, head });
  };
  return {
    ...stepper,
    goTo,
    follow,
    chooseHead,
    first: () => goTo(0),
    last: () => goTo(last()),
    previous: () => goTo(state.at - 1),
  };
}
