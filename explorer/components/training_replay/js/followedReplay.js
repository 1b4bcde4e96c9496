import { servedProbe } from "./probeTraces.js";
import { readRunData } from "./runData.js";
import { mountTrainingReplay } from "./trainingReplay.js";

/** @import { ShownMoment } from "../../shared/js/classEvents.js" */
/** @import { Plotly } from "../../shared/js/plotly.js" */
/** @import { Strings } from "../../shared/js/sentences.js" */
/** @import { RunData } from "./runData.js" */

/**
 * @typedef {object} FollowedReplay the training on the host's screen, on the page of a guest
 * @property {(bytes: Uint8Array, strings: Record<"training_replay" | "player", Strings>) => void} show
 *   a later state of the run, or another run; `bytes`: what `class_training.py` sends
 * @property {(shown: ShownMoment) => void} follow
 * @property {() => void} destroy
 */

const LINE_BREAK = 10;

/**
 * @param {ShadowRoot} parent
 * @param {() => Promise<Plotly>} plotly
 * @returns {FollowedReplay}
 */
export function mountFollowedReplay(parent, plotly) {
  /** @type {ReturnType<typeof mountTrainingReplay> | null} */
  let replay = null;
  let kind = "";
  let newest = ""; // address of the probe trace that came with the run
  /** @type {Uint8Array} */
  let trace;
  const source = {
    probe: async (/** @type {string} */ address, /** @type {AbortSignal} */ signal) =>
      address === newest ? trace : servedProbe(address, signal),
    plotly,
    follows: true,
  };
  const destroy = () => {
    replay?.destroy();
    replay = null;
  };
  /** @type {FollowedReplay["show"]} */
  const show = (bytes, strings) => {
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
  return { show, follow: (shown) => replay?.follow(shown), destroy };
}

/** @param {RunData} run */
function kindOf({ key, language }) {
  return `${key} ${language}`;
}
