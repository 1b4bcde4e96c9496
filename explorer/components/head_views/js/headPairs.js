import { MEAN } from "../../shared/js/trace.js";

/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { SiteName, Trace } from "../../shared/js/trace.js" */

/**
 * @typedef {Pick<TraceState, "layer" | "head">} Place of a head in its attention, or MEAN of a layer
 *
 * @typedef {"matched" | "same"} Rule by which a head has one of the other trace beside it
 *
 * @typedef {{trace: Pick<Trace, "sites">, state: Pick<TraceState, "site" | "layer" | "head">}} Shown
 *
 * @typedef {object} HeadPairs which head of the second trace stands beside the selected one
 * @property {() => Place} other of the selected head
 * @property {() => Place | null} chosen that the visitor chose for the selected head
 * @property {() => Rule} rule
 * @property {(rule: Rule) => void} follow
 * @property {(other: Place) => void} choose for the selected head
 */

/** @typedef {Partial<Record<SiteName, {matched: number[][]}>>} Matches by site, layer and head of both */

/**
 * @param {() => Matches} matches
 * @param {Shown} own
 * @param {Shown} second
 * @param {Rule} initial
 * @returns {HeadPairs}
 */
export function createHeadPairs(matches, own, second, initial) {
  let rule = initial;
  /** @type {{of: string, place: Place} | null} */
  let choice = null;
  const name = () => `${own.state.site}/${own.state.layer}/${own.state.head}`;
  const chosen = () => {
    if (choice?.of !== name()) return null;
    const site = second.trace.sites[own.state.site];
    const { layer, head } = choice.place;
    return site && layer < site.layers && head < site.heads ? choice.place : null;
  };
  return {
    chosen,
    rule: () => rule,
    other: () => chosen() ?? otherHead(matches(), own, second, rule),
    follow: (next) => {
      [rule, choice] = [next, null];
    },
    choose: (place) => {
      choice = { of: name(), place };
    },
  };
}

/**
 * The head of the second trace by a rule: its match or the one at the same place, where it has
 * such; of a mean, that of the same layer.
 * @param {Matches} matches
 * @param {Shown} own
 * @param {Shown} second
 * @param {Rule} rule
 * @returns {Place}
 */
function otherHead(matches, { state }, second, rule) {
  const { site, layer, head } = state;
  const found = matches[site]?.matched.find(([own, number]) => own === layer && number === head);
  if (rule === "matched" && found) return { layer: found[2], head: found[3] };
  const { layers = 1, heads = 1 } = second.trace.sites[site] ?? {};
  const place = heads > 1 && head < 0 ? MEAN : Math.min(Math.max(head, 0), heads - 1);
  return { layer: Math.min(layer, layers - 1), head: place };
}
