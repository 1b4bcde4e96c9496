/**
 * State that remembers who read it.
 *
 * A view draws. What it read of any store while it drew is what it depends on: when one of these
 * values changes, it draws again, at most once a frame and from the latest values, so a held key never
 * queues more drawings than the screen shows.
 */

export type View = () => void;

export interface Store<Values extends object> {
  values: Readonly<Values>;
  set: (patch: Partial<Values>) => void;
}

/** One value of a store. */
interface Cell {
  value: unknown;
  readers: Set<Drawing>;
}

/** A view on a screen. */
interface Drawing {
  view: View;
  read: Set<Cell>; // while it drew the last time
  stale: boolean;
  request: () => void; // a frame in which it is drawn
}

let drawing: Drawing | null = null; // the one whose view is running

export function createStore<Values extends object>(initial: Values): Store<Values> {
  const values = {} as Values;
  const cells = new Map<keyof Values, Cell>();
  for (const name of Object.keys(initial) as (keyof Values)[]) {
    const cell = { value: initial[name], readers: new Set<Drawing>() };
    cells.set(name, cell);
    Object.defineProperty(values, name, { enumerable: true, get: () => read(cell) });
  }
  const set = (patch: Partial<Values>) => {
    const names = (Object.keys(patch) as (keyof Values)[]).filter(
      (name) => cells.get(name)?.value !== patch[name],
    );
    for (const name of names) {
      const cell = cells.get(name);
      if (!cell) throw new Error(`the state has no ${String(name)}`);
      cell.value = patch[name];
      for (const reader of cell.readers) {
        reader.stale = true;
        reader.request();
      }
    }
  };
  return { values, set };
}

/** `own` with the values of a store beside its own: each is read, and remembered, where it is used. */
export function withValues<Own extends object, Values extends object>(
  own: Own,
  values: Values,
): Own & Values {
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(values)) as Own & Values;
}

function read(cell: Cell) {
  if (drawing) {
    drawing.read.add(cell);
    cell.readers.add(drawing);
  }
  return cell.value;
}

/** Run a view and remember what it reads. */
function run(one: Drawing) {
  forget(one);
  one.stale = false;
  const before = drawing;
  drawing = one;
  try {
    one.view();
  } finally {
    drawing = before;
  }
}

function forget(one: Drawing) {
  for (const cell of one.read) cell.readers.delete(one);
  one.read.clear();
}

/** The value of `look`, which the view that is running does not depend on. */
export function untracked<Value>(look: () => Value): Value {
  const before = drawing;
  drawing = null;
  try {
    return look();
  } finally {
    drawing = before;
  }
}

/** What draws views, once a frame and in their order. */
export interface Screen {
  show: (views: View[]) => void; // these instead of those before; drawn in the next frame
  flush: () => void; // draw now what is stale
  stop: () => void; // draw no more
}

export function createScreen(): Screen {
  let drawings: Drawing[] = [];
  let frame = 0;
  let stopped = false;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    for (const one of drawings) if (one.stale) run(one);
  };
  const request = () => {
    if (!stopped) frame ||= requestAnimationFrame(flush);
  };
  const show = (views: View[]) => {
    for (const one of drawings) forget(one);
    drawings = views.map((view) => ({ view, read: new Set(), stale: true, request }));
    request();
  };
  const stop = () => {
    stopped = true;
    cancelAnimationFrame(frame);
    for (const one of drawings) forget(one);
    drawings = [];
  };
  return { show, flush, stop };
}
