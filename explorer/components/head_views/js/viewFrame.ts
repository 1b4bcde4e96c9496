import { type DrawnPart, element } from "../../dom/js/element.ts";
import { servedPlotly } from "../../dom/js/plotly.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createStore, type Store, withValues } from "../../dom/js/store.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { Palette } from "../../page/js/palette.ts";
import { showProjector } from "../../page/js/projector.ts";
import { markNarrow, watchSize, watchTheme } from "../../page/js/watchers.ts";
import { createEverything } from "../../trace/js/everything.ts";
import { initialState } from "../../trace/js/initialState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import {
  createTraceContext,
  drawAll,
  givePieces,
  type TraceContext,
  type TraceOptions,
} from "../../trace/js/traceContext.ts";
import type { ViewPayload } from "./viewPayload.ts";

export type Listeners = Partial<TraceOptions>;

interface Given {
  payload: ViewPayload;
  palette: Palette;
}

/** What every head view has: its element, and what it is given, which is tracked. */
export interface ViewFrame extends Readonly<Given> {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the view is destroyed
  give: Store<Given>["set"];
  say: Say;
  sayOfPlayer: Say;
  roleName: (role: string) => string;
  destroy: () => void;
}

const LOWEST_TOP = 330; // px

export function createViewFrame(parent: HTMLElement | ShadowRoot, payload: ViewPayload): ViewFrame {
  const abort = new AbortController();
  const name = payload.header.view.replace("_", "-");
  const root = element("div", {
    class: `player head-view ${name}`,
    testid: `view-${name}`,
    tabindex: "-1",
    lang: payload.header.language,
  });
  parent.append(root);
  const palette = watchTheme(root, (next) => give({ palette: next }));
  const { values, set: give } = createStore<Given>({ payload, palette });
  const own: Omit<ViewFrame, keyof Given> = {
    root,
    signal: abort.signal,
    give,
    say: (key, facts) => fillIn(values.payload.header.strings, key, facts),
    sayOfPlayer: (key, facts) => fillIn(values.payload.header.player_strings, key, facts),
    roleName: (role) => values.payload.header.role_strings[role] ?? role,
    destroy: () => {
      abort.abort();
      root.remove();
    },
  };
  return withValues(own, values);
}

/**
 * Follow the available space.
 * @param columns px that its columns need
 * @param railBeside px that they need with the heads beside them
 */
export function watchFrame(
  { root, signal }: ViewFrame,
  onChange: () => void,
  columns: number,
  railBeside: number = columns,
) {
  const follow = () => {
    markNarrow(root, columns, railBeside);
    onChange();
  };
  watchSize(root, signal, follow, LOWEST_TOP);
}

/** A trace of a head view. */
export function createViewContext(
  frame: ViewFrame,
  trace: Trace,
  listeners: Listeners,
): TraceContext {
  const context = createTraceContext({
    root: frame.root,
    signal: frame.signal,
    options: { plotly: servedPlotly, ...listeners },
    pieces: trace,
    state: initialState(trace, trace.header.view, { everything: onPage.everything }),
    palette: frame.palette,
    strings: () => context.trace.header.strings,
  });
  return context;
}

/** Draw the parts of a trace, in the colours of the frame. */
export function drawView(frame: ViewFrame, context: TraceContext, parts: DrawnPart[]) {
  const enlarge = () => showProjector(frame.root, context.state.projector);
  const recolour = () => context.give({ palette: frame.palette });
  drawAll(context, [{ views: [enlarge, recolour] }, createEverything(context), ...parts]);
}

/** Show another trace; the selection stays unless the view of the trace says otherwise. */
export function showTrace(context: TraceContext, next: Trace) {
  context.act.pause();
  givePieces(context, next);
  context.set(initialState(next, next.header.view, context.state));
}

/** Stop drawing a trace. */
export function closeContext(context: TraceContext) {
  context.act.pause();
  context.screen.stop();
}
