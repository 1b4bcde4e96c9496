import type { TraceState } from "../../trace/js/initialState.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

export type Follower = Pick<TraceContext, "state" | "trace" | "set">;

const SHARED_STATE: (keyof TraceState)[] = [
  "site",
  "layer",
  "head",
  "ahead",
  "scale",
  "alignment",
  "projector",
];

/** Draw both traces on one colour scale, that of the longer row, whatever their lengths. */
export function shareScale(original: Pick<Trace, "sites">, changed: Pick<Trace, "sites">) {
  for (const name of Object.keys(original.sites) as SiteName[]) {
    const [site, other] = [original.sites[name], changed.sites[name]];
    if (site && other) site.widest = other.widest = Math.max(site.keys, other.keys);
  }
}

/**
 * Keep two traces at the same selection and step: what changes in one changes in the other, as
 * far as its trace reaches.
 * @param apart what each has of its own
 * @returns to be called when the one, or the other, changes
 */
export function synchronise(
  one: Follower,
  other: Follower,
  apart: (keyof TraceState)[] = [],
): ((changed: Set<string>) => void)[] {
  /** The step to which each was moved by the other. */
  const moved: Map<Follower, number> = new Map();
  const follow: (from: Follower, to: Follower) => (changed: Set<string>) => void =
    (from, to) => (changed) => {
      const names = SHARED_STATE.filter((name) => changed.has(name) && !apart.includes(name));
      const patch: Partial<TraceState> = Object.fromEntries(
        names.map((name) => [name, from.state[name]]),
      );
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
