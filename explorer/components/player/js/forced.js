/** Tokens a person chose, each removable, and the two outputs side by side. */
function createForced(context) {
  const { say, act } = context;
  const chips = element("div", { class: "chips", testid: "forced" });
  const reset = element(
    "button",
    { type: "button", class: "quiet", testid: "original-path", on: { click: () => act.reset() } },
    say("original_path"),
  );
  const outputs = element("div", { class: "outputs", testid: "outputs" });
  const node = element("section", { class: "forced", "aria-label": say("forced_steps") }, chips, reset, outputs);
  const update = (changed) => {
    if (!["trace", "step", "ahead"].some((name) => changed.has(name))) return;
    const { view, facts, original } = context.trace.header; // a trace in words has it in words
    node.hidden = view.forced.length === 0 || Boolean(facts.given);
    if (node.hidden) return;
    if (changed.has("trace")) drawChips(context, chips, view.forced);
    drawOutputs(context, outputs, original ?? view.original);
  };
  return { element: node, update };
}

/** A chip for each forced step. */
function drawChips({ say, act, state, trace }, parent, forced) {
  parent.replaceChildren(
    ...forced.map(([step, token]) => {
      const at = stepPredicting(trace, step);
      const name = say("forced_chip", { step: at, token: labelOf(token) });
      const remove = element(
        "button",
        {
          type: "button",
          class: "remove",
          testid: `unforce-${step}`,
          "aria-label": say("unforce", { step: at }),
          title: say("unforce", { step: at }),
          on: { click: () => state.whatIf && act.unforce(step) },
        },
        "✕",
      );
      return element("span", { class: "forced-chip" }, element("bdi", {}, name), remove);
    }),
  );
}

/** The original output over the present one, as far as decoded; differences underlined. */
function drawOutputs(context, parent, original) {
  const { trace, say, state } = context;
  parent.hidden = original.length === 0;
  if (parent.hidden) return;
  const shown = state.ahead ? Infinity : state.step;
  const line = (name, tokens, others) =>
    element(
      "div",
      { class: "output" },
      element("span", { class: "output-name" }, say(name)),
      ...tokens.slice(0, shown).map((token, place) =>
        tokenElement(token, { class: token === others[place] ? "" : "differs" }),
      ),
      ...(tokens.length > shown ? ["…"] : []),
    );
  parent.replaceChildren(
    line("output_original", original, trace.predicted),
    line("output_now", trace.predicted, original),
  );
}
