import { assign, element, type Part, write } from "../../dom/js/element.ts";
import type { ReplayContext } from "./replayContext.ts";

/**
 * The state of the run, always in the same two lines: a progress bar, a sentence with figures, and
 * the settings or why it failed.
 */
export function createProgress(context: ReplayContext): Part {
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
  const details = element("span", { class: "details", testid: "run-details" });
  const badges = element("span", { class: "badges", testid: "run-badges" });
  const problem = element("span", { class: "problem", testid: "run-problem" });
  const settings = element("span", { class: "run-settings", testid: "run-settings" });
  const hint = element("span", { class: "moment-hint", testid: "moment-hint" }, say("hint"));
  const node = element(
    "div",
    { class: "progress" },
    bar,
    element("div", { class: "progress-line" }, state, badges, facts, details),
    element("div", { class: "progress-line" }, problem, settings, hint),
  );
  const drawHint = () => {
    const { report, moments } = context.run;
    hint.hidden = context.state.hinted || moments.length < 2 || Boolean(report.problem);
  };
  const drawRun = () => {
    const { report, settings: own } = context.run;
    done.style.width = `${100 * report.share}%`;
    assign(bar, "aria-valuenow", Math.round(100 * report.share));
    node.dataset.state = report.state;
    write(state, report.words);
    writeWhole(facts, report.facts.join(" · "));
    writeWhole(details, report.details.join(" · "));
    writeWhole(problem, report.problem);
    writeWhole(settings, own.demo);
    badges.replaceChildren(...own.badges.map((text) => element("span", { class: "badge" }, text)));
  };
  return { element: node, views: [drawHint, drawRun] };
}

/** Write a text that may be cut off on screen; the hover text is whole. */
function writeWhole(node: HTMLElement, text: string) {
  write(node, text);
  assign(node, "title", text || undefined);
  node.hidden = !text;
}
