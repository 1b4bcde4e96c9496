import type { View } from "../../dom/js/store.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

type Follower = Pick<TraceContext, "state" | "trace" | "set">;

/** Layer and head are each side's own: the heads beside each other may differ. */
const SHARED_STATE: (keyof TraceState)[] = [
  "site",
  "step",
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
 * Keep two traces at the same attention and step: what changes in one changes in the other, as
 * far as its trace reaches. Of new traces, the first leads.
 * @returns of the one, and of the other
 */
export function synchronise(one: Follower, other: Follower): [View, View] {
  /** What each led or was led to: what differs from it is the visitor's choice. */
  const settled: Map<Follower, Partial<TraceState>> = new Map();
  const follow = (from: Follower, to: Follower) => {
    const before = settled.get(from);
    const chosen = SHARED_STATE.filter((name) => from.state[name] !== before?.[name]);
    const patch: Partial<TraceState> = Object.fromEntries(
      chosen.map((name) => [name, from.state[name]]),
    );
    settled.set(from, { ...before, ...patch });
    if (patch.step !== undefined) patch.step = Math.min(patch.step, to.trace.steps);
    settled.set(to, { ...settled.get(to), ...patch });
    to.set(patch);
  };
  let traces = [one.trace, other.trace];
  const lead = () => {
    const now = [one.trace, other.trace];
    if (now.some((trace, side) => trace !== traces[side])) settled.clear();
    traces = now;
    follow(one, other);
  };
  return [lead, () => follow(other, one)];
}
