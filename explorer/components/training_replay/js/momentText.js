import { assign, element, write } from "../../shared/js/element.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { headName } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { shortValue } from "./numbers.js";
import { sharpestHead } from "./runData.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Moment, RunData } from "./runData.js" */
/** @import { ReplayContext } from "./replayContext.js" */

const FOUND = 1.5; // times chance: a head with less has not found the gold position yet
const FORMED = 0.5; // weight from which the picture of a head is explained
const SOME_BLEU = 5; // from which there is an alignment to explain
const WORSE = 1.03; // times the lowest held-out loss: more is no noise

/**
 * The moment in one sentence, also for screen readers, and why the picture looks as it does.
 * @param {ReplayContext} context
 * @returns {Part}
 */
export function createMomentText(context) {
  const sentence = element("span", {
    class: "moment-sentence",
    testid: "moment-sentence",
    role: "status",
    "aria-live": "polite",
  });
  const reason = element("span", { class: "moment-reason", testid: "moment-reason" });
  const link = element("a", { class: "run-link", testid: "run-link" });
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // a tab of its own
    event.preventDefault();
    context.listeners.onLink();
  });
  const node = element("p", { class: "moment-text" }, sentence, " ", reason, " ", link);
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "run", "at")) return;
    const { run, say, state } = context;
    const moment = run.moments[state.at];
    const text = moment ? momentSentence(say, run, moment) : "";
    const why = moment ? run.settings.explanation || momentReason(say, run, moment) : "";
    write(sentence, text);
    write(reason, why);
    assign(node, "title", `${text} ${why}`.trim());
    write(link, run.link.label);
    assign(link, "href", run.link.address || undefined);
    link.hidden = !run.link.address || !run.settings.explanation;
  };
  return { element: node, update };
}

/**
 * How much is right at a moment, and what its sharpest head does.
 * @param {Say} say
 * @param {RunData} run
 * @param {Moment} moment
 */
export function momentSentence(say, run, moment) {
  const { step } = moment;
  if (run.translates) {
    if (moment.bleu === null || moment.bleu === undefined) return say("moment_step", { step });
    const perplexity = shortValue(moment.perplexity);
    return say("moment_translation", { step, bleu: moment.bleu.toFixed(1), perplexity });
  }
  if (moment.exact === null) return say("moment_step", { step });
  const right = (100 * moment.exact).toFixed(0);
  const best = sharpestHead([moment]);
  if (!best) return say("moment_right", { step, right });
  const weight = moment.gold[best.layer][best.head] ?? 0;
  const own = `gold_${run.task}`;
  return say(run.chance === null ? "moment_task_alone" : "moment_task", {
    step,
    right,
    head: headName(best.layer, best.head),
    weight: shortWeight(weight),
    gold: say(own in run.strings ? own : "gold_other"),
    chance: shortWeight(run.chance ?? 0),
  });
}

/**
 * Why the picture of a moment looks as it does: an overfitted model before anything else.
 * @param {Say} say
 * @param {RunData} run
 * @param {Moment} moment
 */
export function momentReason(say, run, moment) {
  const best = run.moments.find(({ step }) => step === run.best);
  if (best && isOverfitted(best, moment)) {
    const [loss, now] = [shortValue(best.held_out), shortValue(moment.held_out)];
    return say("overfitted", { step: best.step, loss, now });
  }
  if (run.translates) return (moment.bleu ?? 0) >= SOME_BLEU ? say("why_translation") : "";
  const weights = moment.gold.flat().map((weight) => weight ?? 0);
  const most = Math.max(...weights, 0);
  if (run.chance !== null && most < FOUND * run.chance) return say("why_none");
  const own = `why_${run.task}`;
  return most >= FORMED && own in run.strings ? say(own) : "";
}

/**
 * Whether a moment is later than the best one and clearly worse on held-out data, although the
 * training loss has fallen.
 * @param {Moment} best
 * @param {Moment} moment
 */
export function isOverfitted(best, moment) {
  if (moment.step <= best.step || best.held_out === null || best.loss === null) return false;
  if (moment.held_out === null || moment.loss === null) return false;
  return moment.held_out > WORSE * best.held_out && moment.loss < best.loss;
}
