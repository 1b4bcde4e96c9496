/**
 * Capture values inside a model, or change them while it runs, as `explorer/model/hooks.py` does.
 */

export type Values = Float32Array | Uint8Array;

export type Action = (values: Values, shape: number[]) => void; // may change `values` in place

/** The identity, unless something watches the value. */
export class HookPoint {
  actions: Action[];

  constructor() {
    this.actions = [];
  }

  get watched() {
    return this.actions.length > 0;
  }

  /** `values`, of axes `shape` one after the other, after every action. */
  see<Kind extends Values>(values: Kind, ...shape: number[]): Kind {
    for (const action of this.actions) action(values, shape);
    return values;
  }
}

/** The hook points of a model by path, which their modules add when they are made. */
export type HookPoints = Map<string, HookPoint>;

/** A new hook point, known to `points` as `path`. */
export function hookPoint(points: HookPoints, path: string) {
  const point = new HookPoint();
  points.set(path, point);
  return point;
}

/**
 * The result of `run`, during which the values at these paths are watched. Later actions see what
 * earlier ones changed.
 * @param actions by path, or pairs of a path and an action
 */
export function watching<Result>(
  points: HookPoints,
  actions: Record<string, Action> | [string, Action][],
  run: () => Result,
) {
  const pairs = Array.isArray(actions) ? actions : Object.entries(actions);
  const watched = pairs.map(([path, action]) => {
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
