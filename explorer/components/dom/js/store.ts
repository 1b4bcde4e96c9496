/**
 * The state of a component. Every change goes through `set`; what is drawn follows from it.
 *
 * Changes within one animation frame are drawn once, from the latest values, so a held key never
 * queues more drawings than the screen shows.
 */

export interface Store<Values extends object> {
  values: Values;
  set: (patch: Partial<Values>) => void;
  touch: (...names: string[]) => void; // draw as if these had changed
  flush: () => void; // draw now
  stop: () => void; // draw no more
}

/** @param draw receives the names of what changed */
export function createStore<Values extends object>(
  initial: Values,
  draw: (changed: Set<string>) => void,
): Store<Values> {
  const values = { ...initial };
  let changed: Set<string> = new Set();
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const names = changed;
    changed = new Set();
    if (names.size) draw(names);
  };
  const touch = (...names: string[]) => {
    for (const name of names) changed.add(name);
    if (changed.size && !frame) frame = requestAnimationFrame(flush);
  };
  const set = (patch: Partial<Values>) => {
    const names = Object.keys(patch) as (keyof Values & string)[];
    const different = names.filter((name) => values[name] !== patch[name]);
    Object.assign(values, patch);
    touch(...different);
  };
  return { values, set, touch, flush, stop: () => cancelAnimationFrame(frame) };
}

/** Whether any of `names` changed. */
export function anyOf(changed: Set<string>, ...names: string[]) {
  return names.some((name) => changed.has(name));
}
