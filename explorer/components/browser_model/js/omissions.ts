/** Omit a part of the Transformer while it runs, as `explorer/model/intervention_hooks.py` does. */

import { type Action, watching } from "./hookPoint.ts";
import type { Transformer } from "./transformer.ts";

export type Omission = "scaling" | "mask" | "positions";

/** End of the hook points' paths. */
const OMISSIONS: Record<Omission, [string, (headWidth: number) => Action]> = {
  scaling: [
    ".scores",
    (headWidth) => (scores) => {
      const root = Math.fround(Math.sqrt(headWidth));
      for (let index = 0; index < scores.length; index++) scores[index] *= root;
    },
  ],
  mask: [".mask", () => (allowed) => allowed.fill(1)],
  positions: [".position_vectors", () => (vectors) => vectors.fill(0)],
};

/** Whether `name` is a part that can be left out. */
export function isOmission(name: string): name is Omission {
  return Object.hasOwn(OMISSIONS, name);
}

/** The result of `run`, in which `model` runs without a part in every layer. */
export function omitting<Result>(model: Transformer, name: Omission, run: () => Result) {
  const { d_model, heads } = model.config;
  const [end, action] = OMISSIONS[name];
  const paths = [...model.hookPoints.keys()].filter((path) => path.endsWith(end));
  const actions = Object.fromEntries(paths.map((path) => [path, action(d_model / heads)]));
  return watching(model.hookPoints, actions, run);
}
