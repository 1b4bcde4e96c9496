/** What a visitor changes in the model by hand, while Edit is on. */

import {
  type Change,
  changed,
  linesIn,
  type Refusal,
  setWeight,
  toggleCell,
  toggleHead,
} from "./interventions.ts";
import { MOST_INTERVENTIONS } from "./look.ts";
import { selectionOf } from "./selectionReport.ts";
import { shownHead } from "./stepState.ts";
import type { Cell, Site } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";

/** The key of the sentence that says why something cannot be changed; "" = nothing to say. */
export type EditNote =
  | ""
  | Refusal
  | "edit_removed"
  | "edit_one_head"
  | "edit_limit"
  | "draw_refused"
  | "edit_failed";

/** Whether the model of the trace can be changed: a saved page has none, and a guess is of one model. */
export function canEdit({ state, pieces }: Pick<TraceContext, "state" | "pieces">) {
  return state.whatIf && state.guess === null && !pieces.header.facts.weights_only;
}

/** Begin or end it. Nothing else goes on meanwhile. */
export function showEdit(context: TraceContext, edit: boolean) {
  context.act.pause();
  context.set({ edit, editNote: "" });
}

/** Remove a head, or put it back. */
export function editHead(context: TraceContext, layer: number, head: number) {
  apply(context, toggleHead(linesOf(context), { site: ownSite(context), layer, head }));
}

/** Mask a cell of the head on screen, or unmask it. */
export function editCell(context: TraceContext, cell: Cell) {
  const place = headToEdit(context);
  apply(context, typeof place === "string" ? place : toggleCell(linesOf(context), place, cell));
}

/** Set the weight of a cell of the head on screen, 0..1. */
export function editWeight(context: TraceContext, cell: Cell, weight: number) {
  const place = headToEdit(context);
  const lines = linesOf(context);
  apply(context, typeof place === "string" ? place : setWeight(lines, place, cell, weight));
}

/** Change the model or, where that is refused, say why. */
export function apply(context: TraceContext, change: Change | EditNote) {
  if (typeof change === "string") {
    context.set({ editNote: change });
    return;
  }
  const many = changed(linesOf(context), change).length > MOST_INTERVENTIONS;
  context.set({ editNote: many ? "edit_limit" : "" });
  if (many) return;
  context.options.onState?.(selectionOf(context)); // at once: the next trace opens there
  context.act.change(change);
}

/** The lines of the interventions in force. */
export function linesOf({ pieces }: Pick<TraceContext, "pieces">) {
  return linesIn(pieces.header.facts);
}

/** The head on screen, whose cells can be changed; else why not. */
export function headToEdit(context: TraceContext) {
  const { state } = context;
  const { layer } = state;
  const [site, head] = [ownSite(context), shownHead(state)];
  const single = typeof head === "number" && head >= 0 && context.trace === context.pieces;
  if (!single || !site.has(layer, head)) return "edit_one_head";
  return site.removed(layer, head) ? "edit_removed" : { site, layer, head };
}

/** The attention on screen, in pieces: those are what the model has. */
function ownSite({ pieces, state }: TraceContext) {
  return pieces.sites[state.site] as Site;
}
