import type { Plotly } from "../../dom/js/plotly.ts";
import type { Say, Strings } from "../../dom/js/sentences.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { Store } from "../../dom/js/store.ts";
import { createStore } from "../../dom/js/store.ts";
import type { Palette } from "../../page/js/palette.ts";
import type { Actions } from "./actions.ts";
import { createActions } from "./actions.ts";
import type { TraceState } from "./initialState.ts";
import type { Selection } from "./look.ts";
import type { SiteName, Trace } from "./trace.ts";
import type { ServerlessResources } from "./traceQuestions.ts";
import { inUnit } from "./unitChoice.ts";

/** How to get Plotly, and the listeners of the app. */
export interface TraceOptions {
  plotly: () => Promise<Plotly>;
  onState?: (selection: Selection) => void;
  /**
   * alone: the tokens at
   * other steps stay
   */
  onForce?: (step: number, id: number, alone: boolean) => void;
  onUnforce?: (step: number) => void;
  onReset?: () => void;
  onMissing?: () => void; // called when the server has dropped this trace
  resources?: ServerlessResources; // what answers about traces, where no server does
  onCell?: (cell: {
    site: SiteName;
    layer: number;
    head: number;
    query: number;
    key: number | null;
  }) => void;
}

/** A trace, what is shown of it, and what can be done: all parts that draw it share one. */
export interface TraceContext {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the component is destroyed
  options: TraceOptions;
  trace: Trace; // in the unit on screen
  pieces: Trace; // the trace as it was read
  generation: number; // changes with the trace; zoom is kept within one
  state: TraceState;
  set: Store<TraceState>["set"];
  touch: Store<TraceState>["touch"];
  store: Store<TraceState>;
  beside: TraceContext[]; // of the maps that stand beside this one, in equal rectangles
  palette: Palette;
  say: Say;
  act: Actions;
  plotly: Plotly | null; // once it is loaded
}

/** @param given.state what is shown first */
export function createTraceContext({
  root,
  signal,
  options,
  pieces,
  state,
  palette,
  strings,
  draw,
}: {
  root: HTMLElement;
  signal: AbortSignal;
  options: TraceOptions;
  pieces: Trace;
  state: TraceState;
  palette: Palette;
  strings: () => Strings;
  draw: (changed: Set<string>) => void;
}): TraceContext {
  const store = createStore(state, draw);
  const parts: Omit<TraceContext, "act"> = {
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
  const context = parts as TraceContext;
  context.act = createActions(context);
  return context;
}

/** Draw everything for the first time. */
export function drawAll(context: TraceContext) {
  context.touch(...Object.keys(context.state), "trace", "theme", "size");
  context.store.flush();
}
