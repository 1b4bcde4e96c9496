/**
 * The state of a component. Every change goes through `set`; what is drawn follows from it.
 *
 * Changes within one animation frame are drawn once, from the latest values, so a held key never
 * queues more drawings than the screen shows.
 * @template {object} Values
 * @typedef {object} Store
 * @property {Values} values
 * @property {(patch: Partial<Values>) => void} set
 * @property {(...names: string[]) => void} touch draw as if these had changed
 * @property {() => void} flush draw now
 * @property {() => void} stop draw no more
 */

/**
 * @template {object} Values
 * @param {Values} initial
 * @param {(changed: Set<string>) => void} draw receives the names of what changed
 * @returns {Store<Values>}
 */
export function createStore(initial, draw) {
  const values = { ...initial };
  /** @type {Set<string>} */
  let changed = new Set();
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const names = changed;
    changed = new Set();
    if (names.size) draw(names);
  };
  /** @param {...string} names */
  const touch = (...names) => {
    for (const name of names) changed.add(name);
    if (changed.size && !frame) frame = requestAnimationFrame(flush);
  };
  /** @param {Partial<Values>} patch */
  const set = (patch) => {
    const names = /** @type {(keyof Values & string)[]} */ (Object.keys(patch));
    const different = names.filter((name) => values[name] !== patch[name]);
    Object.assign(values, patch);
    touch(...different);
  };
  return { values, set, touch, flush, stop: () => cancelAnimationFrame(frame) };
}

/**
 * Whether any of `names` changed.
 * @param {Set<string>} changed
 * @param {...string} names
 */
export function anyOf(changed, ...names) {
  return names.some((name) => changed.has(name));
}
