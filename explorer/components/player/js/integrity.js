/** What was measured about this trace, and what the keys do. */
function createIntegrity(context) {
  const { say } = context;
  const list = element("ul", { class: "integrity", testid: "integrity", "aria-label": say("integrity") });
  const keys = element("span", { class: "keys", title: say("keys_title") }, say("keys"));
  const node = element("footer", { class: "foot" }, list, keys);
  const update = (changed) => {
    if (!changed.has("trace")) return;
    const checks = context.trace.header.integrity.map((check) => checkElement(context, check));
    list.replaceChildren(...checks);
  };
  return { element: node, update };
}

/**
 * One check: a mark, words and the measured number; red words where it failed, and words of its
 * own where an intervention makes it differ.
 */
function checkElement({ say }, { check, error, limit, ok, expected }) {
  const facts = { error: shortError(error), limit: shortError(limit) };
  const word = expected && error > limit ? "expected" : ok ? "check" : "failed";
  return element(
    "li",
    { class: ok ? "passed" : "failed", "data-check": check, title: say(`about_${check}`, facts) },
    `${ok ? "✓" : "✗"} ${say(`${word}_${check}`, facts)}`,
  );
}
