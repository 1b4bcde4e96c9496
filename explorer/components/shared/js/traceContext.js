import { createActions } from "./actions.js";
import { fillIn } from "./sentences.js";
import { createStore } from "./store.js";
import { inUnit } from "./unitChoice.js";

/** @import { Actions } from "./actions.js" */
/** @import { TraceState } from "./initialState.js" */
/** @import { Palette } from "./palette.js" */
/** @import { Plotly } from "./plotly.js" */
/** @import { Selection } from "./look.js" */
/** @import { ServerlessResources } from "./traceQuestions.js" */
/** @import { Say, Strings } from "./sentences.js" */
/** @import { Store } from "./store.js" */
/** @import { SiteName, Trace } from "./trace.js" */

/**
 * @typedef {object} TraceOptions how to get Plotly, and the listeners of the app
 * @property {() => Promise<Plotly>} plotly
 * @property {(selection: Selection) => void} [onState]
 * @property {(step: number, id: number, alone: boolean) => void} [onForce] alone: the tokens at
 *   other steps stay
 * @property {(step: number) => void} [onUnforce]
 * @property {() => void} [onReset]
 * @property {() => void} [onMissing] called when the server has dropped this trace
 * @property {ServerlessResources} [resources] what answers about traces, where no server does
 * @property {(cell: {site: SiteName, layer: number, head: number, query: number, key: number | null}) => void} [onCell]
 *
 * @typedef {object} TraceContext a trace, what is shown of it, and what can be done: all parts that draw it share one
 * @property {HTMLElement} root
 * @property {AbortSignal} signal aborted when the component is destroyed
 * @property {TraceOptions} options
 * @property {Trace} trace in the unit on screen
 * @property {Trace} pieces the trace as it was read
 * @property {number} generation changes with the trace; zoom is kept within one
 * @property {TraceState} state
 * @property {Store<TraceState>["set"]} set
 * @property {Store<TraceState>["touch"]} touch
 * @property {Store<TraceState>} store
 * @property {TraceContext[]} beside of the maps that stand beside this one, in equal rectangles
 * @property {Palette} palette
 * @property {Say} say
 * @property {Actions} act
 * @property {Plotly | null} plotly once it is loaded
 */

/**
 * @param {object} given
 * @param {HTMLElement} given.root
 * @param {AbortSignal} given.signal
 * @param {TraceOptions} given.options
 * @param {Trace} given.pieces
 * @param {TraceState} given.state what is shown first
 * @param {Palette} given.palette
 * @param {() => Strings} given.strings
 * @param {(changed: Set<string>) => void} given.draw
 * @returns {TraceContext}
 */
export function createTraceContext({
  root,
  signal,
  options,
  pieces,
  state,
  palette,
  strings,
  draw,
}) {
  const store = createStore(state, draw);
  /** @type {Omit<TraceContext, "act">} */
  const parts = {
    root,
    signal,
    options: { ...options },
    trace: inUnit(pieces, state.words),
    pieces,
    generation: 0,
    state: store.values,
    set: store.set,
    touch: store.touch,
    store,
    beside: [],
    palette,
    say: (key, facts) => fillIn(strings(), key, facts),
    plotly: null,
  };
  const context = /** @type {TraceContext} */ (parts);
  context.act = createActions(context);
  return context;
}

/**
 * Draw everything for the first time.
 * @param {TraceContext} context
 */
export function drawAll(context) {
  context.touch(...Object.keys(context.state), "trace", "theme", "size");
  context.store.flush();
}
