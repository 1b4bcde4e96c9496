/** @import { Move } from "../../shared/js/actions.js" */
/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { Palette } from "../../shared/js/palette.js" */
/** @import { Plotly } from "../../shared/js/plotly.js" */
/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Store } from "../../shared/js/store.js" */
/** @import { SiteName } from "../../shared/js/trace.js" */
/** @import { ProbeTraces } from "./probeTraces.js" */
/** @import { RunData } from "./runData.js" */

/**
 * @typedef {object} ReplayState
 * @property {number} at index of the selected moment; −1 without moments
 * @property {boolean} following whether each new moment is selected
 * @property {boolean} headChosen whether the visitor chose a head of this run
 * @property {boolean} playing
 * @property {boolean} hinted
 * @property {boolean} projector
 *
 * @typedef {{layer: number, head: number}} HeadChoice
 *
 * @typedef {Record<Move | "pause" | "follow", () => void> & {goTo: (index: number) => void}} ReplayActions
 *
 * @typedef {object} ReplayListeners
 * @property {() => void} onLink called when the visitor follows the link of the run; a plain link
 *   would load the page anew, as a new visitor
 * @property {(cell: {site: SiteName, layer: number, head: number, query: number, key: number,
 *   text: string}) => void} onCell called when the visitor asks how the weight of a cell of the probe
 *   is computed; `text` is the input
 *
 * @typedef {object} ReplayContext what every part of the training replay reads and can do
 * @property {HTMLElement} root
 * @property {AbortSignal} signal aborted when the replay is destroyed
 * @property {RunData} run
 * @property {ReplayState} state
 * @property {Store<ReplayState>["set"]} set
 * @property {Store<ReplayState>["touch"]} touch
 * @property {Store<ReplayState>} store
 * @property {Palette} palette
 * @property {() => Promise<Plotly>} loadPlotly
 * @property {Plotly | null} plotly once it is loaded
 * @property {Say} say
 * @property {ProbeTraces} traces
 * @property {() => [number, number]} range of the step axis
 * @property {() => number} expected how many moments there are or, during the training, will be
 * @property {ReplayActions} act
 * @property {ReplayListeners} listeners
 * @property {(layer: number, head: number) => void} chooseHead
 * @property {HeadChoice | null} selected cross head of the probe
 * @property {() => Partial<TraceState>} lastProbe what was shown of the probe before the page mounted the replay anew
 */

export {};
