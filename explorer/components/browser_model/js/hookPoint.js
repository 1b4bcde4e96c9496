/**
 * Capture values inside a model, or change them while it runs, as `explorer/model/hooks.py` does.
 *
 * @typedef {Float32Array | Uint8Array} Values
 * @typedef {(values: Values, shape: number[]) => void} Action may change `values` in place
 * @typedef {{values: Values, shape: number[]}} Captured
 */

/** The identity, unless something watches the value. */
export class HookPoint {
  constructor() {
    /** @type {Action[]} */
    this.actions = [];
  }

  get watched() {
    return this.actions.length > 0;
  }

  /**
   * `values`, of axes `shape` one after the other, after every action.
   * @template {Values} Kind
   * @param {Kind} values
   * @param {number[]} shape
   * @returns {Kind}
   */
  see(values, ...shape) {
    for (const action of this.actions) action(values, shape);
    return values;
  }
}

/**
 * The hook points of a model by path, which their modules add when they are made.
 * @typedef {Map<string, HookPoint>} HookPoints
 */

/**
 * A new hook point, known to `points` as `path`.
 * @param {HookPoints} points
 * @param {string} path
 */
export function hookPoint(points, path) {
  const point = new HookPoint();
  points.set(path, point);
  return point;
}

/**
 * The result of `run`, during which the values at these paths are watched. Later actions see what
 * earlier ones changed.
 * @template Result
 * @param {HookPoints} points
 * @param {Record<string, Action>} actions by path
 * @param {() => Result} run
 */
export function watching(points, actions, run) {
  const watched = Object.entries(actions).map(([path, action]) => {
    const point = points.get(path);
    if (!point) throw new Error(`There is no hook point ${path}.`);
    point.actions.push(action);
    return { point, action };
  });
  try {
    return run();
  } finally {
    for (const { point, action } of watched) {
      point.actions.splice(point.actions.lastIndexOf(action), 1);
    }
  }
}
