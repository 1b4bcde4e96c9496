import { createStore } from "../../dom/js/store.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { MEAN } from "../../trace/js/look.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";

/** Layer and head within an attention; MEAN for the mean of the layer. */
export type Place = Pick<TraceState, "layer" | "head">;

export type Rule = "matched" | "same"; // by which a head has one of the other trace beside it

/** A trace and its head on screen. */
export type SelectedHead = {
  trace: Pick<Trace, "sites">;
  state: Pick<TraceState, "site" | "layer" | "head">;
};

/** The head of the second trace that was chosen for a head. */
interface Choice {
  of: string; // its name
  place: Place;
}

/** Which head of the second trace stands beside the selected one; tracked. */
export interface HeadPairs {
  other: () => Place; // of the selected head
  chosen: () => Place | null; // that the visitor chose for the selected head
  rule: () => Rule;
  follow: (rule: Rule) => void;
  choose: (other: Place) => void; // for the selected head
}

/** By site, layer and head of both. */
type Matches = Partial<Record<SiteName, { matched: number[][] }>>;

export function createHeadPairs(
  matches: () => Matches,
  own: SelectedHead,
  second: SelectedHead,
  initial: Rule,
): HeadPairs {
  const { values, set } = createStore<{ rule: Rule; choice: Choice | null }>({
    rule: initial,
    choice: null,
  });
  const name = () => `${own.state.site}/${own.state.layer}/${own.state.head}`;
  const chosen = () => {
    const { choice } = values;
    if (choice?.of !== name()) return null;
    const site = second.trace.sites[own.state.site];
    const { layer, head } = choice.place;
    return site && layer < site.layers && head < site.heads ? choice.place : null;
  };
  return {
    chosen,
    rule: () => values.rule,
    other: () => chosen() ?? otherHead(matches(), own, second, values.rule),
    follow: (rule) => set({ rule, choice: null }),
    choose: (place) => set({ choice: { of: name(), place } }),
  };
}

/**
 * The head of the second trace by a rule: its match or the one at the same place, where it has
 * such; of a mean, that of the same layer.
 */
function otherHead(
  matches: Matches,
  { state }: SelectedHead,
  second: SelectedHead,
  rule: Rule,
): Place {
  const { site, layer, head } = state;
  const found = matches[site]?.matched.find(([own, number]) => own === layer && number === head);
  if (rule === "matched" && found) return { layer: found[2], head: found[3] };
  const { layers = 1, heads = 1 } = second.trace.sites[site] ?? {};
  const place = heads > 1 && head < 0 ? MEAN : Math.min(Math.max(head, 0), heads - 1);
  return { layer: Math.min(layer, layers - 1), head: place };
}
