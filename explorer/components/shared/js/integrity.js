import { element } from "./element.js";
import { shortError } from "./numbers.js";

/** @import { Part } from "./element.js" */
/** @import { IntegrityCheck } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * The measured integrity of the trace, and what the keys do.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createIntegrity(context) {
  const { say } = context;
  const list = element("ul", {
    class: "integrity",
    testid: "integrity",
    "aria-label": say("integrity"),
  });
  const keys = element("span", { class: "keys", title: say("keys_title") }, say("keys"));
  const node = element("footer", { class: "foot" }, list, keys);
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!changed.has("trace")) return;
    list.replaceChildren(
      ...context.trace.header.integrity.map((check) => checkElement(context, check)),
    );
  };
  return { element: node, update };
}

/**
 * One check: a mark, its name and the measured number; in red where it failed, with a name of its
 * own where an intervention makes the difference expected.
 * @param {TraceContext} context
 * @param {IntegrityCheck} integrity
 */
function checkElement({ say }, { check, error, limit, ok, expected }) {
  const facts = { error: shortError(error), limit: shortError(limit) };
  const outcome =
    expected && error !== null && error > limit ? "expected" : ok ? "check" : "failed";
  return element(
    "li",
    { class: ok ? "passed" : "failed", "data-check": check, title: say(`about_${check}`, facts) },
    `${ok ? "✓" : "✗"} ${say(`${outcome}_${check}`, facts)}`,
  );
}
