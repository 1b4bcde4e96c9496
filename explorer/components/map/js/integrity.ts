import { assign, element, type Part, write } from "../../dom/js/element.ts";
import { createExplanation, type Entry } from "../../dom/js/explanation.ts";
import { shortError } from "../../dom/js/numbers.ts";
import type { IntegrityCheck } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/**
 * The measured integrity of the trace in one line, which opens to its checks, those that failed
 * beside it, and what the keys do.
 * @param keysHere the sentence that names the keys of this view
 */
export function createIntegrity(
  context: TraceContext,
  keysHere: () => string = () => "keys",
): Part {
  const { say } = context;
  const { element: line, button } = createExplanation(
    "integrity-line",
    { label: say("integrity"), close: say("words_close") },
    () => (context.integrity ?? []).map((check) => checkEntry(context, check)),
  );
  button.removeAttribute("aria-label"); // its text tells more
  const failed = element("ul", { class: "failures" });
  const list = element("div", { class: "integrity", testid: "integrity" }, line, failed);
  const keys = element("span", { class: "keys", testid: "keys" });
  const counting = element(
    "span",
    { class: "counting", title: say("counting_title") },
    say("counting"),
  );
  const node = element("footer", { class: "foot" }, list, counting, keys);
  const draw = () => {
    write(keys, say(keysHere()));
    assign(keys, "title", say(`${keysHere()}_title`));
    const { integrity } = context;
    const checks = integrity ?? [];
    const earlier = isCheckedEarlier(context, checks) ? ` · ${say("checked_earlier")}` : "";
    write(button, integrity ? `${summary(context, integrity)}${earlier}` : say("checking"));
    button.disabled = !integrity;
    const wrong = checks.filter(({ ok }) => !ok);
    button.classList.toggle("passed", integrity !== null && wrong.length === 0);
    failed.replaceChildren(
      ...wrong.map((check) => {
        const { name, text } = checkEntry(context, check);
        return element("li", { class: "failed", "data-check": check.check, title: text }, name);
      }),
    );
  };
  return { element: node, views: [draw] };
}

/** How many checks passed or failed. */
function summary({ say }: TraceContext, checks: IntegrityCheck[]) {
  const count = checks.length;
  const failed = checks.filter(({ ok }) => !ok).length;
  const expected = checks.filter(isUnavoidable).length;
  if (failed) return say("checks_failed", { failed, count });
  return say(expected ? "checks_expected" : "checks_passed", { count, expected });
}

/** Whether the model measured an earlier text of the same kind, as `is_checked_earlier` in
 * `explorer/core/trace_checks.py`. */
function isCheckedEarlier({ trace }: TraceContext, checks: IntegrityCheck[]) {
  const measured = checks.some(({ check }) => check === "hooked_equals_plain");
  return trace.header.facts.check === "once" && !measured;
}

/** Whether the model or an intervention makes the difference of a check unavoidable. */
function isUnavoidable({ expected, error, limit }: IntegrityCheck) {
  return expected && error !== null && error > limit;
}

/** One check: a mark, its name with the measured number, and what it means. */
function checkEntry({ say, trace }: TraceContext, integrity: IntegrityCheck): Entry {
  const { check, error, limit, ok } = integrity;
  const facts = { error: shortError(error), limit: shortError(limit) };
  const unavoidable = isUnavoidable(integrity);
  const outcome = unavoidable ? "expected" : ok ? "check" : "failed";
  const leaks =
    unavoidable && check === "cached_equals_full" && trace.header.facts.config?.causal === false;
  const name = say(leaks ? "expected_no_causal_mask" : `${outcome}_${check}`, facts);
  return {
    name: `${ok ? "✓" : "✗"} ${name}`,
    text: say(`about_${check}`, facts),
    kind: ok ? "passed" : "failed",
  };
}
