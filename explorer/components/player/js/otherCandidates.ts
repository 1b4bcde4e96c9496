import { element, write } from "../../dom/js/element.ts";
import { percent } from "../../dom/js/numbers.ts";
import { atTemperature } from "../../inside/js/temperature.ts";
import type { Candidate } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** The row of all tokens that are not listed. */
export function createOthers(context: TraceContext) {
  const value = element("span", { class: "value" });
  const name = element("span", { class: "name" }, context.say("all_others"));
  const node = element(
    "p",
    { class: "candidate others", testid: "candidates-others" },
    name,
    value,
  );
  /** @param listed that have a row: with this one they add up to 100 % */
  const draw = (listed: Candidate[]) => {
    node.hidden = listed.length === 0;
    const shares = listed.map(({ probability }) => atTemperature(context, probability));
    write(value, percentOfOthers(shares));
  };
  return { element: node, draw };
}

/** The share of all tokens that are not listed: never 0, though those listed may add up to 1, rounded. */
export function percentOfOthers(shares: number[]) {
  const rest = shares.reduce((left, share) => left - share, 1);
  return percent(Math.max(rest, Number.MIN_VALUE));
}
