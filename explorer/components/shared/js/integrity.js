import { assign, element, write } from "./element.js";
import { shortError } from "./numbers.js";

/** @import { Part } from "./element.js" */
/** @import { IntegrityCheck } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * The measured integrity of the trace, and what the keys do.
 * @param {TraceContext} context
 * @param {() => string} [keysHere] the sentence that names the keys of this view
 * @returns {Part}
 */
export function createIntegrity(context, keysHere = () => "keys") {
  const { say } = context;
  const list = element("ul", {
    class: "integrity",
    testid: "integrity",
    "aria-label": say("integrity"),
  });
  const keys = element("span", { class: "keys", testid: "keys" });
  const counting = element(
    "span",
    { class: "counting", title: say("counting_title") },
    say("counting"),
  );
  const node = element("footer", { class: "foot" }, list, counting, keys);
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!changed.has("trace")) return;
    write(keys, say(keysHere()));
    assign(keys, "title", say(`${keysHere()}_title`));
    list.replaceChildren(
      ...context.trace.header.integrity.map((check) => checkElement(context, check)),
    );
  };
  return { element: node, update };
}

/**
 * One check: a mark, its name and the measured number; in red where it failed, with a name of its
 * own where the model or an intervention makes the difference unavoidable.
 * @param {TraceContext} context
 * @param {IntegrityCheck} integrity
 */
function checkElement({ say, trace }, { check, error, limit, ok, expected }) {
  const facts = { error: shortError(error), limit: shortError(limit) };
  const unavoidable = expected && error !== null && error > limit;
  const outcome = unavoidable ? "expected" : ok ? "check" : "failed";
  const leaks = unavoidable && trace.header.facts.config?.causal === false;
  return element(
    "li",
    { class: ok ? "passed" : "failed", "data-check": check, title: say(`about_${check}`, facts) },
    `${ok ? "✓" : "✗"} ${say(leaks ? "expected_no_causal_mask" : `${outcome}_${check}`, facts)}`,
  );
}
