import { element, positionRectangle, write } from "../../dom/js/element.ts";
import { createStore } from "../../dom/js/store.ts";
import { editCell, editWeight, headToEdit } from "../../trace/js/editing.ts";
import { UNMASKED } from "../../trace/js/look.ts";
import { weightAt } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { cellSize, xOf, yOf } from "./geometry.ts";
import type { Space } from "./space.ts";

/** A cell under a pointer that is down. */
interface Press {
  cell: Cell;
  x: number; // of the pointer, in the viewport
  y: number;
  weight: number | null; // null where it cannot be dragged
}

const SLACK = 4; // px a pointer may move in a tap
const RANGE = 160; // px of a drag from weight 0 to weight 1
const WIDTH = 52; // px of the number
const HEIGHT = 24;

/**
 * While Edit is on: a tap on a cell masks it or unmasks it; a vertical drag sets its weight, which
 * stands above the cell meanwhile.
 */
export function createEditGestures(
  context: TraceContext,
  box: HTMLElement,
  space: Space,
  shownCell: (event: PointerEvent) => Cell | null,
) {
  const mark = element("div", { class: "edit-weight", testid: "edit-weight", hidden: true });
  const dragged = createStore<{ weight: number | null }>({ weight: null });
  let press: Press | null = null;
  const end = () => {
    press = null;
    dragged.set({ weight: null });
  };
  box.addEventListener("pointerdown", (event) => {
    const cell = context.state.edit && event.isPrimary ? shownCell(event) : null;
    if (!cell) return;
    box.setPointerCapture(event.pointerId);
    press = { cell, x: event.clientX, y: event.clientY, weight: weightOf(context, cell) };
  });
  box.addEventListener("pointermove", ({ clientY }) => {
    if (!press || press.weight === null) return;
    if (dragged.values.weight === null && Math.abs(clientY - press.y) <= SLACK) return;
    context.set({ hover: null }); // its text would cover the weight
    dragged.set({ weight: draggedWeight(press.weight, press.y - clientY) });
  });
  box.addEventListener("pointerup", ({ clientX, clientY }) => {
    if (!press) return;
    const { cell, x, y, weight: before } = press;
    const { weight } = dragged.values;
    const moved = Math.hypot(clientX - x, clientY - y) > SLACK;
    end();
    if (weight !== null) editWeight(context, cell, weight);
    else if (!moved) editCell(context, cell);
    else if (before === null) editWeight(context, cell, 0); // says why it has none
  });
  box.addEventListener("pointercancel", end);
  const draw = space.view((geometry) => {
    const { weight } = dragged.values;
    mark.hidden = weight === null || !press || !context.state.edit;
    if (weight === null || !press) return;
    write(mark, weight.toFixed(2));
    const { key, query } = press.cell;
    const left = geometry.left + xOf(geometry, key) + (cellSize(geometry).width - WIDTH) / 2;
    const top = geometry.top + yOf(geometry, query) - HEIGHT - SLACK;
    positionRectangle(mark, Math.max(left, 0), Math.max(top, 0), WIDTH, HEIGHT);
  });
  return { element: mark, views: [draw] };
}

/**
 * The weight after a drag.
 * @param up px that the pointer has moved up
 */
export function draggedWeight(weight: number, up: number) {
  return Math.min(Math.max(weight + up / RANGE, 0), 1);
}

/** The weight of a cell of the head on screen; null where it cannot be set. */
function weightOf(context: TraceContext, { query, key }: Cell) {
  const place = headToEdit(context);
  if (typeof place === "string") return null;
  const { site, layer, head } = place;
  const masked = site.masked(layer, head)[query * site.keys + key] !== UNMASKED;
  return masked ? null : weightAt(site, layer, head, query, key);
}
