/** How the run is doing: a bar, its state in words, its figures, and why it failed. */
function createProgress(context) {
  const done = element("span", { class: "done" });
  const bar = element(
    "div",
    { class: "progress-bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 },
    done,
  );
  assign(bar, "aria-label", context.say("progress"));
  const state = element("strong", { class: "state", testid: "run-state" });
  const facts = element("span", { class: "facts", testid: "run-facts" });
  const problem = element("span", { class: "problem", testid: "run-problem" });
  const other = element("span", { class: "facts", testid: "compared" });
  const hint = element("span", { class: "hint", testid: "moment-hint" }, context.say("hint"));
  const line = element("div", { class: "progress-line" }, state, facts, other, problem, hint);
  const node = element("div", { class: "progress" }, bar, line);
  const update = (changed) => {
    const { report, moments } = context.reel;
    hint.hidden = context.state.hinted || moments.length < 2 || Boolean(report.problem);
    if (!changed.has("reel")) return;
    done.style.width = `${100 * report.share}%`;
    assign(bar, "aria-valuenow", Math.round(100 * report.share));
    node.dataset.state = report.state;
    write(state, report.words);
    write(facts, report.facts.join(" · "));
    write(other, comparison(context));
    write(problem, report.problem);
    problem.hidden = !report.problem;
  };
  return { element: node, update };
}

/** Which run the dashed curves are of; heads are named where both runs have their curves. */
function comparison({ reel, say }) {
  if (!reel.other) return "";
  const { name, moments } = reel.other;
  const heads = !reel.translates && moments.some((moment) => moment.gold !== null);
  return say(heads ? "compared" : "compared_run", { name });
}
