import type { Selection } from "./look.ts";
import { siteOf } from "./stepState.ts";
import type { Cell, Site } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";

/** The part of a map that is on screen: its first and last query, its first and last key. */
export type Zoom = NonNullable<Selection["zoom"]>;

const USUAL = 128; // rows and columns of a part that a click chooses

type Shape = Pick<Site, "queries" | "keys">;

/**
 * Show a part of the map on screen, or all of it.
 * @returns whether it is another one
 */
export function showPart(
  context: Pick<TraceContext, "trace" | "state" | "set">,
  part: Zoom | null,
) {
  const zoom = zoomOn(siteOf(context), part);
  const { zoom: before } = context.state;
  if (String(zoom) === String(before)) return false;
  context.set({ zoom });
  return true;
}

/** Every cell of a map. */
export function wholeMap({ queries, keys }: Shape): Zoom {
  return [0, queries - 1, 0, keys - 1];
}

/** A part of a map; null for all of it, and for what is beyond it. */
export function zoomOn(shape: Shape, zoom: Zoom | null | undefined): Zoom | null {
  if (!zoom || zoom[1] >= shape.queries || zoom[3] >= shape.keys) return null;
  return wholeMap(shape).some((end, index) => end !== zoom[index]) ? zoom : null;
}

/** The part between two cells, either of which may be beyond the map. */
export function partBetween({ queries, keys }: Shape, one: Cell, other: Cell): Zoom {
  const ends = (first: number, second: number, count: number) =>
    [Math.min(first, second), Math.max(first, second)].map((end) =>
      Math.max(0, Math.min(end, count - 1)),
    );
  return [...ends(one.query, other.query, queries), ...ends(one.key, other.key, keys)] as Zoom;
}

/** The part around a cell, as large as the one before. */
export function partAround({ queries, keys }: Shape, before: Zoom | null, cell: Cell): Zoom {
  const [first, last, firstKey, lastKey] = before ?? [0, USUAL - 1, 0, USUAL - 1];
  const around = (middle: number, wanted: number, count: number) => {
    const length = Math.min(wanted, count);
    const start = Math.max(0, Math.min(middle - Math.floor(length / 2), count - length));
    return [start, start + length - 1];
  };
  const rows = around(cell.query, last - first + 1, queries);
  return [...rows, ...around(cell.key, lastKey - firstKey + 1, keys)] as Zoom;
}

/**
 * The part moved until it has a row, by whole heights of its own. Where it lies on the diagonal its
 * columns move with the rows: they are the same tokens.
 */
export function zoomWith(shape: Shape, zoom: Zoom | null, row: number): Zoom | null {
  if (!zoom || row < 0 || row >= shape.queries || (row >= zoom[0] && row <= zoom[1])) return zoom;
  const [first, last, firstKey, lastKey] = zoom;
  const height = last - first + 1;
  const wanted = first + Math.floor((row - first) / height) * height;
  const start = Math.min(Math.max(wanted, 0), shape.queries - height);
  const diagonal = shape.queries === shape.keys && first === firstKey && last === lastKey;
  const keys = diagonal ? [start, start + height - 1] : [firstKey, lastKey];
  return [start, start + height - 1, keys[0], keys[1]];
}
