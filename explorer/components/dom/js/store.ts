/**
 * State that remembers who read it.
 *
 * A view draws. What it read of any store while it drew is what it depends on: when one of these
 * values changes, it draws again, at most once a frame and from the latest values, so a held key never
 * queues more drawings than the screen shows.
 *
 * A frame has three phases. Views write texts and what the layout follows from; then the page is
 * measured, all that is measured at once, and views that read what has changed draw again, until the
 * layout rests. Pictures are drawn into the space that is left; they write nothing that views measure.
 * What acts on all that is drawn, such as scrolling, comes after.
 */

export type View = () => void;

export interface Store<Values extends object> {
  values: Readonly<Values>;
  set: (patch: Partial<Values>) => void;
}

/** One value, of a store or of the page. */
interface Cell {
  value: unknown;
  readers: Set<Drawing>;
  look?: () => unknown; // at the page
  from?: Map<Cell, unknown>; // what it read of stores when it looked
}

/** A view on a screen. */
interface Drawing {
  view: View;
  read: Set<Cell>; // while it drew the last time, or draws now
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
      change(cell, patch[name]);
    }
  };
  return { values, set };
}

/** Give a cell another value; what read it is drawn again. */
function change(cell: Cell, value: unknown) {
  cell.value = value;
  for (const reader of cell.readers) {
    reader.stale = true;
    reader.request();
  }
}

/**
 * What a view asks the page: a size, or what other views have made. It is asked in the phase of
 * measuring, and by the first view that reads it; a view that read it draws again when it is another.
 * @param look only reads, and answers with what `===` compares
 */
export function measured<Value>(look: () => Value): () => Value {
  const cell: Cell = { value: undefined, readers: new Set(), look };
  return () => read(cell) as Value;
}

/**
 * What follows from values, worked out when it is read and one of them has changed. Who reads it
 * depends on them.
 */
export function computed<Value>(work: () => Value): () => Value {
  let known: { value: Value; from: Map<Cell, unknown> } | null = null;
  return () => {
    if (!known || [...known.from].some(([cell, value]) => read(cell) !== value)) {
      const [value, from] = following(work);
      known = { value, from };
      for (const cell of from.keys()) read(cell);
    }
    return known.value;
  };
}

/** `own` with the values of a store beside its own: each is read, and remembered, where it is used. */
export function withValues<Own extends object, Values extends object>(
  own: Own,
  values: Values,
): Own & Values {
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(values)) as Own & Values;
}

function read(cell: Cell) {
  const followed = cell.readers.size > 0;
  if (cell.look && !(followed && isFresh(cell.from))) cell.value = askPage(cell, cell.look);
  for (const other of cell.from?.keys() ?? []) read(other);
  if (drawing) {
    drawing.read.add(cell);
    cell.readers.add(drawing);
  }
  return cell.value;
}

/** The answer of the page, and what the question was made of. */
function askPage(cell: Cell, look: () => unknown) {
  const [answer, from] = following(look);
  cell.from = from;
  return answer;
}

/** What is worked out, and the values that it was worked out from. */
function following<Value>(work: () => Value): [Value, Map<Cell, unknown>] {
  const one = { view: () => {}, read: new Set<Cell>(), stale: false, request: () => {} };
  const value = within(one, work);
  const from = new Map([...one.read].map((cell) => [cell, cell.value]));
  forget(one);
  return [value, from];
}

function isFresh(from: Map<Cell, unknown> | undefined) {
  return from !== undefined && [...from].every(([cell, value]) => cell.value === value);
}

/** Run a view and remember what it reads. */
function run(one: Drawing) {
  const before = one.read;
  one.read = new Set();
  one.stale = false;
  within(one, one.view);
  for (const cell of before) if (!one.read.has(cell)) cell.readers.delete(one);
}

function forget(one: Drawing) {
  for (const cell of one.read) cell.readers.delete(one);
}

/** Act; what is read meanwhile is remembered of `one`, or of nobody. */
function within<Value>(one: Drawing | null, act: () => Value): Value {
  const before = drawing;
  drawing = one;
  try {
    return act();
  } finally {
    drawing = before;
  }
}

/** The value of `look`, which the view that is running does not depend on. */
export function untracked<Value>(look: () => Value): Value {
  return within(null, look);
}

/** A view that acts, and depends on nothing else, when any of what it looks at is another. */
export function whenOther(look: () => unknown[], act: () => void): View {
  let before: unknown[] = [];
  return () => {
    const now = look();
    const same = now.length === before.length && now.every((one, index) => one === before[index]);
    before = now;
    if (!same) untracked(act);
  };
}

/** Act now and whenever what was read has changed: without frames, which a hidden page has none of. */
export function whenever(act: View, signal: AbortSignal) {
  const actAgain = () => {
    if (one.stale && !signal.aborted) run(one);
  };
  const request = () => queueMicrotask(actAgain);
  const one: Drawing = { view: act, read: new Set(), stale: true, request };
  actAgain();
  signal.addEventListener("abort", () => forget(one));
}

/** What draws, once a frame, each phase in its order. */
export interface Screen {
  show: (phases: Phases) => void; // these instead of those before; drawn in the next frame
  measure: () => void; // in the next frame, as something got another size
  flush: () => void; // draw now what is stale
  stop: () => void; // draw no more
}

export interface Phases {
  views: View[];
  pictures?: View[]; // in the space that the views leave
  after?: View[]; // what acts on all that is drawn
}

const MOST_ROUNDS = 4; // of measuring in a frame: a layout that does not rest is left as it is

export function createScreen(): Screen {
  let phases: Drawing[][] = [];
  let frame = 0;
  let resized = false;
  let stopped = false;
  const draw = (phase: Drawing[]) => {
    const stale = phase.some((one) => one.stale);
    for (const one of phase) if (one.stale) run(one);
    return stale;
  };
  const measureNow = () => {
    resized = false;
    const cells = new Set(phases.flat().flatMap(({ read }) => [...read].filter(asksPage)));
    const found = [...cells].map(
      (cell) => [cell, askPage(cell, cell.look as () => unknown)] as const,
    );
    for (const [cell, value] of found) if (cell.value !== value) change(cell, value); // all is read
  };
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (resized) measureNow();
    const [views = [], pictures = [], after = []] = phases;
    for (let round = 0; draw(views) && round < MOST_ROUNDS; round += 1) measureNow();
    if (draw(pictures)) measureNow();
    draw(after);
  };
  const request = () => {
    if (!stopped) frame ||= requestAnimationFrame(flush);
  };
  const clear = () => {
    for (const one of phases.flat()) forget(one);
    phases = [];
  };
  const drawingOf = (view: View) => ({ view, read: new Set<Cell>(), stale: true, request });
  const show = ({ views, pictures = [], after = [] }: Phases) => {
    clear();
    phases = [views, pictures, after].map((phase) => phase.map(drawingOf));
    request();
  };
  const measure = () => {
    resized = true;
    request();
  };
  const stop = () => {
    stopped = true;
    cancelAnimationFrame(frame);
    clear();
  };
  return { show, measure, flush, stop };
}

function asksPage({ look }: Cell) {
  return look !== undefined;
}
