/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { SiteName, Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/** @typedef {Pick<TraceContext, "state" | "trace" | "set">} Follower */

/** @type {(keyof TraceState)[]} */
const SHARED_STATE = ["site", "layer", "head", "ahead", "scale", "alignment", "projector"];

/**
 * Draw both traces on one colour scale, that of the longer row, whatever their lengths.
 * @param {Pick<Trace, "sites">} original
 * @param {Pick<Trace, "sites">} changed
 */
export function shareScale(original, changed) {
  for (const name of /** @type {SiteName[]} */ (Object.keys(original.sites))) {
    const [site, other] = [original.sites[name], changed.sites[name]];
    if (site && other) site.widest = other.widest = Math.max(site.keys, other.keys);
  }
}

/**
 * Keep two traces at the same selection and step: what changes in one changes in the other, as
 * far as its trace reaches.
 * @param {Follower} one
 * @param {Follower} other
 * @param {(keyof TraceState)[]} [apart] what each has of its own
 * @returns {((changed: Set<string>) => void)[]} to be called when the one, or the other, changes
 */
export function synchronise(one, other, apart = []) {
  /** @type {Map<Follower, number>} the step to which each was moved by the other */
  const moved = new Map();
  /** @type {(from: Follower, to: Follower) => (changed: Set<string>) => void} */
  const follow = (from, to) => (changed) => {
    const names = SHARED_STATE.filter((name) => changed.has(name) && !apart.includes(name));
    /** @type {Partial<TraceState>} */
    const patch = Object.fromEntries(names.map((name) => [name, from.state[name]]));
    if (changed.has("step")) {
      const own = from.state.step !== moved.get(from);
      moved.delete(from);
      const step = Math.min(from.state.step, to.trace.steps);
      if (own && step !== to.state.step) {
        moved.set(to, step);
        patch.step = step;
      }
    }
    to.set(patch);
  };
  return [follow(one, other), follow(other, one)];
}
