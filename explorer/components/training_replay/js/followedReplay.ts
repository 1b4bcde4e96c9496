import type { Plotly } from "../../dom/js/plotly.ts";
import type { Strings } from "../../dom/js/sentences.ts";
import { showEverything } from "../../page/js/everything.ts";
import type { ShownMoment } from "../../page/js/pictureOnPage.ts";
import { servedProbe } from "./probeTraces.ts";
import { type RunData, readRunData } from "./runData.ts";
import { mountTrainingReplay } from "./trainingReplay.ts";

/** The training on the host's screen, on the page of a guest. */
export interface FollowedReplay {
  /** a later state of the run, or another run; `bytes`: what `class_training.py` sends */
  show: (bytes: Uint8Array, strings: Record<"training_replay" | "player", Strings>) => void;
  follow: (shown: ShownMoment) => void;
  /** as the switch of the page says, whose script is another one */
  showEverything: (shown: boolean) => void;
  destroy: () => void;
}

const LINE_BREAK = 10;

export function mountFollowedReplay(
  parent: ShadowRoot,
  plotly: () => Promise<Plotly>,
): FollowedReplay {
  let replay: ReturnType<typeof mountTrainingReplay> | null = null;
  let kind = "";
  let newest = ""; // address of the probe trace that came with the run
  let trace: Uint8Array;
  const source = {
    probe: async (address: string, signal: AbortSignal) =>
      address === newest ? trace : servedProbe(address, signal),
    plotly,
    follows: true,
  };
  const destroy = () => {
    replay?.destroy();
    replay = null;
  };
  const show: FollowedReplay["show"] = (bytes, strings) => {
    const end = bytes.indexOf(LINE_BREAK);
    const told = readRunData(bytes.subarray(0, end));
    const run = { ...told, strings: strings.training_replay, player: strings.player };
    trace = bytes.slice(end + 1); // a copy: its numbers begin at a multiple of their size
    newest = (trace.length && run.moments.at(-1)?.probe) || "";
    if (kind !== kindOf(run)) destroy();
    kind = kindOf(run);
    if (replay) replay.update(run);
    else replay = mountTrainingReplay(parent, run, { onLink: () => {}, onCell: () => {} }, source);
  };
  return { show, follow: (shown) => replay?.follow(shown), showEverything, destroy };
}

function kindOf({ key, language }: RunData) {
  return `${key} ${language}`;
}
