/**
 * Omit a part of the Transformer while it runs, as `explorer/model/intervention_hooks.py` does.
 *
 * @import { Action } from "./hookPoint.js"
 * @import { Transformer } from "./transformer.js"
 * @typedef {"scaling" | "mask" | "positions"} Omission
 */

import { watching } from "./hookPoint.js";

/** @type {Record<Omission, [string, (headWidth: number) => Action]>} end of the hook points' paths */
const OMISSIONS = {
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

/**
 * Whether `name` is a part that can be left out.
 * @param {string} name
 * @returns {name is Omission}
 */
export function isOmission(name) {
  return Object.hasOwn(OMISSIONS, name);
}

/**
 * The result of `run`, in which `model` runs without a part in every layer.
 * @template Result
 * @param {Transformer} model
 * @param {Omission} name
 * @param {() => Result} run
 */
export function omitting(model, name, run) {
  const { d_model, heads } = model.config;
  const [end, action] = OMISSIONS[name];
  const paths = [...model.hookPoints.keys()].filter((path) => path.endsWith(end));
  const actions = Object.fromEntries(paths.map((path) => [path, action(d_model / heads)]));
  return watching(model.hookPoints, actions, run);
}
