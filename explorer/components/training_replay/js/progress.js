import { assign, element, write } from "../../shared/js/element.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { ReplayContext } from "./replayContext.js" */

/**
 * The state of the run: a progress bar, a sentence, figures, and why it failed.
 * @param {ReplayContext} context
 * @returns {Part}
 */
export function createProgress(context) {
  const { say } = context;
  const done = element("span", { class: "done" });
  const bar = element(
    "div",
    {
      class: "progress-bar",
      role: "progressbar",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-label": say("progress"),
    },
    done,
  );
  const state = element("strong", { class: "state", testid: "run-state" });
  const facts = element("span", { class: "facts", testid: "run-facts" });
  const problem = element("span", { class: "problem", testid: "run-problem" });
  const other = element("span", { class: "facts", testid: "compared" });
  const hint = element("span", { class: "hint", testid: "moment-hint" }, say("hint"));
  const badges = element("span", { class: "badges", testid: "run-badges" });
  const line = element(
    "div",
    { class: "progress-line" },
    state,
    badges,
    facts,
    other,
    problem,
    hint,
  );
  const settings = createSettings(context);
  const node = element("div", { class: "progress" }, bar, line, ...settings.elements);
  /** @param {Set<string>} changed */
  const update = (changed) => {
    const { report, moments } = context.run;
    hint.hidden = context.state.hinted || moments.length < 2 || Boolean(report.problem);
    if (!changed.has("run")) return;
    done.style.width = `${100 * report.share}%`;
    assign(bar, "aria-valuenow", Math.round(100 * report.share));
    node.dataset.state = report.state;
    write(state, report.words);
    write(facts, report.facts.join(" · "));
    write(other, comparedRun(context));
    write(problem, report.problem);
    problem.hidden = !report.problem;
    badges.replaceChildren(
      ...context.run.settings.badges.map((text) => element("span", { class: "badge" }, text)),
    );
    settings.update();
  };
  return { element: node, update };
}

/**
 * What differs from the quick demo and from the compared run, and why loss and score contradict.
 * @param {ReplayContext} context
 */
function createSettings(context) {
  const different = element("p", { class: "run-settings", testid: "run-settings" });
  const reason = element("span");
  const link = element("a", { class: "run-link", testid: "run-link" });
  const explanation = element(
    "p",
    { class: "run-explanation", testid: "run-explanation" },
    reason,
    " ",
    link,
  );
  const update = () => {
    const { settings, link: target } = context.run;
    const text = [settings.demo, settings.other].filter(Boolean).join(" — ");
    write(different, text);
    assign(different, "title", text);
    different.hidden = !text;
    write(reason, settings.explanation);
    explanation.hidden = !settings.explanation;
    write(link, target.label);
    assign(link, "href", target.address || undefined);
    link.hidden = !target.address;
  };
  return { elements: [different, explanation], update };
}

/**
 * Whose the dashed curves are; heads are named where both runs have curves of heads.
 * @param {ReplayContext} context
 */
function comparedRun({ run, say }) {
  if (!run.other) return "";
  const { name, moments } = run.other;
  const heads = !run.translates && moments.some((moment) => moment.gold !== null);
  return say(heads ? "compared" : "compared_run", { name });
}
