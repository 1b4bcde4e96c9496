import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import { percent } from "../../dom/js/numbers.ts";
import { atTemperature } from "../../inside/js/temperature.ts";
import type { Candidate } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const SURE = 0.99; // where the first is more probable, the others tell little

/**
 * The row of all tokens that are not listed. Where the model is sure of the first, a click lists them
 * as far as there is space, and another one hides them.
 */
export function createOthers(context: TraceContext) {
  const { say, state } = context;
  const fold = element("span", { class: "fold" });
  const value = element("span", { class: "value" });
  const name = element("span", { class: "name" }, say("all_others"), fold);
  const toggle = () => {
    if (node.getAttribute("aria-disabled") === null)
      context.set({ allCandidates: !state.allCandidates });
  };
  const node = buttonElement(
    toggle,
    { class: "candidate others", testid: "candidates-others" },
    name,
    value,
  );
  /**
   * @param listed that have a row: with this one they add up to 100 %
   * @param sure whether a click lists or hides the others
   */
  const draw = (listed: Candidate[], sure: boolean) => {
    const { allCandidates } = state;
    node.hidden = listed.length === 0;
    const shares = listed.map(({ probability }) => atTemperature(context, probability));
    write(value, percentOfOthers(shares));
    write(fold, sure ? (allCandidates ? " ▴" : " ▾") : "");
    assign(node, "aria-disabled", sure ? null : "true");
    assign(node, "aria-expanded", sure ? String(allCandidates) : null);
    const title = allCandidates ? "fewer_candidates" : "more_candidates";
    assign(node, "title", sure ? say(title) : null);
  };
  return { element: node, draw };
}

/** The share of all tokens that are not listed: never 0, though those listed may add up to 1, rounded. */
export function percentOfOthers(shares: number[]) {
  const rest = shares.reduce((left, share) => left - share, 1);
  return percent(Math.max(rest, Number.MIN_VALUE));
}

/** Whether the model is so sure of the first candidate that the others tell little. */
export function isSure(context: TraceContext, candidates: Candidate[]) {
  const first = candidates.find(({ rank }) => rank === 1);
  return first !== undefined && atTemperature(context, first.probability) > SURE;
}
