import { assign, element, type Part, write } from "../../dom/js/element.ts";
import { percent, shortValue, shortWeight } from "../../dom/js/numbers.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";
import {
  type LearntKind,
  learnsSentences,
  type Moment,
  type RunData,
  sharpestHead,
} from "./runData.ts";

const FOUND = 1.5; // times chance: a head with less has not found the gold position yet
const FORMED = 0.5; // weight from which the picture of a head is explained
const SOME_BLEU = 5; // from which there is an alignment to explain
const WORSE = 1.05; // times the lowest held-out loss,
const IN_A_ROW = 3; // at so many moments in a row: that is no noise
const LEAKED_LOSS = 0.3; // a model with less that had not seen the answer would often be right
const LEAKED_EXACT = 0.3;

/** The moment in one sentence, also for screen readers, and why the picture looks as it does. */
export function createMomentText(context: ReplayContext): Part {
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
  const draw = () => {
    const { run, say, state } = context;
    const moment = run.moments[state.at];
    const chosen = state.headChosen ? context.selected : null;
    const text = moment ? momentSentence(say, run, moment, chosen) : "";
    const leak = moment ? leakReason(say, run, moment) : "";
    const why = moment ? leak || momentReason(say, run, moment) : "";
    write(sentence, text);
    write(reason, why);
    assign(node, "title", `${text} ${why}`.trim());
    write(link, run.link.label);
    assign(link, "href", run.link.address || undefined);
    link.hidden = !run.link.address || !leak;
  };
  return { element: node, views: [draw] };
}

/** How much is right at a moment, and what a head does: the chosen one, else the sharpest. */
export function momentSentence(
  say: Say,
  run: RunData,
  moment: Moment,
  chosen: HeadChoice | null = null,
) {
  const { step } = moment;
  if (run.translates) {
    if (moment.exact !== null) return say("moment_pairs", { step, right: percent(moment.exact) });
    if (moment.bleu === null || moment.bleu === undefined) return say("moment_step", { step });
    const perplexity = shortValue(moment.perplexity);
    return say("moment_translation", { step, bleu: moment.bleu.toFixed(1), perplexity });
  }
  if (run.continues) {
    const { accuracy, perplexity } = moment;
    if (typeof accuracy !== "number") return say("moment_step", { step });
    const facts = { right: percent(accuracy), perplexity: shortValue(perplexity) };
    return say("moment_texts", { step, ...facts });
  }
  if (moment.exact === null) return say("moment_step", { step });
  const right = percent(moment.exact);
  const known = chosen && typeof moment.gold[chosen.layer]?.[chosen.head] === "number";
  const shown = known ? chosen : sharpestHead(moment);
  if (!shown) return say("moment_right", { step, right });
  const weight = moment.gold[shown.layer][shown.head] ?? 0;
  const own = `gold_${run.task}`;
  return say(run.chance === null ? "moment_task_alone" : "moment_task", {
    step,
    right,
    head: headName(shown.layer, shown.head),
    weight: shortWeight(weight),
    gold: say(own in run.strings ? own : "gold_other"),
    chance: shortWeight(run.chance ?? 0),
  });
}

/** Why a model without a causal mask has a small loss and a bad score; "" where that is not so. */
export function leakReason(say: Say, run: RunData, moment: Moment) {
  const loss = moment.held_out ?? moment.loss;
  if (run.causal || loss === null || loss >= LEAKED_LOSS) return "";
  const { bleu } = moment;
  if (run.translates)
    return typeof bleu === "number" && bleu < SOME_BLEU
      ? say("leak_bleu", { loss: shortValue(loss), bleu: bleu.toFixed(1) })
      : "";
  if (moment.exact === null || moment.exact >= LEAKED_EXACT) return "";
  return say("leak", { loss: shortValue(loss), exact: percent(moment.exact) });
}

/** Why the picture of a moment looks as it does: an overfitted model before anything else. */
export function momentReason(say: Say, run: RunData, moment: Moment) {
  const best = run.moments.find(({ step }) => step === run.best);
  if (best && isOverfitted(run, moment)) {
    const [loss, now] = [shortValue(best.held_out), shortValue(moment.held_out)];
    return say("overfitted", { step: best.step, loss, now });
  }
  if (run.continues) return "";
  if (run.translates) return (moment.bleu ?? 0) >= SOME_BLEU ? say("why_translation") : "";
  if (run.chance !== null && mostGold(moment) < FOUND * run.chance) return say("why_none");
  const own = `why_${run.task}`;
  return hasFormed(moment) && own in run.strings ? say(own) : "";
}

/** Whether a head has found its picture at a moment. */
export function hasFormed(moment: Pick<Moment, "gold">) {
  return mostGold(moment) >= FORMED;
}

function mostGold({ gold }: Pick<Moment, "gold">) {
  return Math.max(...gold.flat().map((weight) => weight ?? 0), 0);
}

/**
 * Whether a moment and those before it, after the best one, are clearly worse on held-out data,
 * although the training loss has fallen. A toy task draws new data for every step, which cannot be
 * learnt by heart; without a causal mask the losses say little.
 */
export function isOverfitted(
  {
    causal,
    best: bestStep,
    moments,
    ...run
  }: LearntKind & Pick<RunData, "causal" | "best" | "moments">,
  moment: Moment,
) {
  const at = moments.indexOf(moment);
  const bestAt = moments.findIndex(({ step }) => step === bestStep);
  if (!learnsSentences(run) || !causal || bestAt < 0 || at < bestAt + IN_A_ROW) return false;
  const best = moments[bestAt];
  return moments.slice(at - IN_A_ROW + 1, at + 1).every((one) => isWorse(best, one));
}

function isWorse(best: Moment, moment: Moment) {
  if (best.held_out === null || best.loss === null) return false;
  if (moment.held_out === null || moment.loss === null) return false;
  return moment.held_out > WORSE * best.held_out && moment.loss < best.loss;
}
