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

/** One check: a mark, words and the measured number; red words where it failed. */
function checkElement({ say }, { check, error, limit, ok }) {
  const facts = { error: shortError(error), limit: shortError(limit) };
  const text = say(ok ? `check_${check}` : `failed_${check}`, facts);
  return element(
    "li",
    { class: ok ? "passed" : "failed", "data-check": check, title: say(`about_${check}`, facts) },
    `${ok ? "✓" : "✗"} ${text}`,
  );
}
