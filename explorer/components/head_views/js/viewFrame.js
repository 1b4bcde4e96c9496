import { drawParts, element } from "../../shared/js/element.js";
import { initialState } from "../../shared/js/initialState.js";
import { servedPlotly } from "../../shared/js/plotly.js";
import { showProjector } from "../../shared/js/projector.js";
import { fillIn } from "../../shared/js/sentences.js";
import { createTraceContext } from "../../shared/js/traceContext.js";
import { markNarrow, watchSize, watchTheme } from "../../shared/js/watchers.js";

/** @import { DrawnPart } from "../../shared/js/element.js" */
/** @import { Palette } from "../../shared/js/palette.js" */
/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext, TraceOptions } from "../../shared/js/traceContext.js" */
/** @import { ViewPayload } from "./viewPayload.js" */

/**
 * @typedef {Partial<TraceOptions>} Listeners
 *
 * @typedef {object} ViewFrame what every head view has: its element, its theme, its payload
 * @property {HTMLElement} root
 * @property {AbortSignal} signal aborted when the view is destroyed
 * @property {ViewPayload} payload
 * @property {Palette} palette
 * @property {Say} say
 * @property {(role: string) => string} roleName
 * @property {((palette: Palette) => void)[]} recolour called when the theme changes
 * @property {() => void} destroy
 */

const LOWEST_TOP = 330; // px; a view that begins lower is as high as if it began here

/**
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @returns {ViewFrame}
 */
export function createViewFrame(parent, payload) {
  const abort = new AbortController();
  const name = payload.header.view.replace("_", "-");
  const root = element("div", {
    class: `player head-view ${name}`,
    testid: `view-${name}`,
    tabindex: "-1",
    lang: payload.header.language,
  });
  parent.append(root);
  /** @type {ViewFrame} */
  const frame = {
    root,
    signal: abort.signal,
    payload,
    palette: watchTheme(root, (palette) => {
      frame.palette = palette;
      for (const recolour of frame.recolour) recolour(palette);
    }),
    say: (key, facts) => fillIn(frame.payload.header.strings, key, facts),
    roleName: (role) => frame.payload.header.role_strings[role] ?? role,
    recolour: [],
    destroy: () => {
      abort.abort();
      root.remove();
    },
  };
  return frame;
}

/**
 * Follow the available space.
 * @param {ViewFrame} frame
 * @param {() => void} onChange
 * @param {number} columns px that its columns need
 * @param {number} [railBeside] px that they need with the heads beside them
 */
export function watchFrame({ root, signal }, onChange, columns, railBeside = columns) {
  watchSize(
    root,
    signal,
    (top) => Math.min(top, LOWEST_TOP),
    () => {
      markNarrow(root, columns, railBeside);
      onChange();
    },
  );
}

/**
 * A trace of a head view, drawn by any parts.
 * @param {ViewFrame} frame
 * @param {Trace} trace
 * @param {Listeners} listeners
 * @param {DrawnPart[]} parts which may be added later
 * @returns {TraceContext}
 */
export function createViewContext(frame, trace, listeners, parts) {
  const context = createTraceContext({
    root: frame.root,
    signal: frame.signal,
    options: { plotly: servedPlotly, ...listeners },
    pieces: trace,
    state: initialState(trace, trace.header.view, {}),
    palette: frame.palette,
    strings: () => context.trace.header.strings,
    draw: (changed) => {
      if (changed.has("projector")) showProjector(frame.root, context.state.projector);
      drawParts(parts, changed);
    },
  });
  frame.recolour.push((palette) => {
    context.palette = palette;
    context.touch("theme");
  });
  return context;
}

/**
 * Show another trace; the selection stays unless the view of the trace says otherwise.
 * @param {TraceContext} context
 * @param {Trace} next
 */
export function showTrace(context, next) {
  context.act.pause();
  context.trace = next;
  context.pieces = next;
  context.generation += 1;
  context.set(initialState(next, next.header.view, context.state));
  context.touch("trace", "step", "site", "layer", "head", "ahead", "zoomed");
}

/**
 * Stop drawing a trace.
 * @param {TraceContext} context
 */
export function closeContext(context) {
  context.act.pause();
  context.store.stop();
}
