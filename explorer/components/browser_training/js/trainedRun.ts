/** A training in this page as the replay shows one: what `training_replay/payload.py` writes of a run. */

import { sha256 } from "../../browser_model/js/sha256.ts";
import { fillIn, type Say, type Strings } from "../../dom/js/sentences.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import { type Moment, type RunData, sharpestHead } from "../../training_replay/js/runData.ts";
import type { HandedModel } from "./handedModel.ts";
import { type Choice, type Settings, settingsOf } from "./settings.ts";
import { isContinued, mostOfBlock, SHORTEST_BLOCK } from "./toyTasks.ts";
import type { TrainedMoment } from "./trainerWorker.ts";

type State = "starting" | "running" | "stopped" | "done" | "failed";

/** What is known of a training. */
export interface Training {
  settings: Settings;
  begun: number; // when, in ms; tells two of the same name apart
  state: State;
  problem: string; // why it failed
  moments: TrainedMoment[];
}

/** Sentences, and what they are said in. */
export type RunSentences = Pick<RunData, "language" | "project" | "strings" | "player"> & {
  sentences: Strings; // of the trainer
};

export function beginTraining(choice: Choice): Training {
  const settings = settingsOf(choice);
  return { settings, begun: Date.now(), state: "starting", problem: "", moments: [] };
}

export function isGoing({ state }: Training) {
  return state === "starting" || state === "running";
}

/**
 * Whether a training would be lost with the page: one that goes on, or whose model is nowhere else.
 * @param kept the training whose model was saved or opened last, as it was then
 */
export function isAtRisk(training: Training | null, kept: Training | null) {
  return (
    training !== null && (isGoing(training) || (training.moments.length > 0 && training !== kept))
  );
}

/** The name of the training and of its model. */
export function nameOf({ task, causal, seed }: Choice) {
  return `${task}${causal ? "" : "-no-mask"}-${seed}`;
}

/** The moment with the lowest held-out loss; undefined before the first. */
function bestMoment({ moments }: Training) {
  const lowest = Math.min(...moments.map(({ heldOut }) => heldOut));
  return moments.find(({ heldOut }) => heldOut === lowest);
}

/** The address of the probe trace of a moment, which no server knows. */
export function probeAddress({ settings, begun }: Training, step: number) {
  return `trained/${nameOf(settings)}/${begun}/${step}`;
}

/** The model of the best moment; null before the first. */
export function trainedModel(training: Training): HandedModel | null {
  const { settings } = training;
  const moment = bestMoment(training);
  if (!moment) return null;
  const { symbols, longest } = settings;
  const sharpest = sharpestHead(momentOf(training, moment));
  const opening = sharpest && { site: siteOf(settings), ...sharpest };
  const { file } = moment;
  return { name: nameOf(settings), file, sha256: sha256(file), symbols, longest, opening };
}

export function runOf(training: Training, shown: RunSentences): RunData {
  const { language, project, strings, player, sentences } = shown;
  const say: Say = (key, facts) => fillIn(sentences, key, facts);
  const { settings, begun, state, problem } = training;
  const step = training.moments.at(-1)?.step ?? 0;
  return {
    ...{ language, project, strings, player },
    key: `trained/${nameOf(settings)}@${begun}`,
    name: nameOf(settings),
    steps: settings.steps,
    every: settings.evaluate_every,
    task: settings.task,
    site: siteOf(settings),
    ...{ translates: false, continues: false },
    causal: settings.causal,
    batch_loss: false,
    chance: chanceWeight(settings),
    samples: [],
    moments: training.moments.map((moment) => momentOf(training, moment)),
    best: bestMoment(training)?.step ?? null,
    others: [],
    rows: [],
    report: {
      state,
      going: isGoing(training),
      share: state === "done" ? 1 : step / settings.steps,
      words: wordsOf(training, say),
      facts: factsOf(training, say),
      details: detailsOf(training, say),
      problem: problem && say("failed", { problem }),
    },
    settings: {
      badges: settings.causal ? [] : [say("causal_off")],
      demo: say(`sizes_${isContinued(settings.task) ? "continued" : "paired"}`, {
        ...settings,
        symbols: settings.symbols.join(" "),
      }),
    },
    opens: training.moments.length > 0,
    link: { address: "", label: "" },
    log: [],
  };
}

function momentOf(training: Training, moment: TrainedMoment): Moment {
  const { step, loss, heldOut, exact, gold, rate, norms, greedy } = moment;
  const { known_loss, new_loss, previous } = moment;
  const before = training.moments[training.moments.indexOf(moment) - 1]?.seconds ?? 0;
  return {
    ...{ step, loss, exact, gold, rate, norms, greedy },
    ...(previous && { known_loss, new_loss, previous }),
    held_out: heldOut,
    norm: Math.hypot(...Object.values(norms)),
    speed: moment.tokens / (moment.seconds - before),
    memory: null, // a browser tells nobody
    written: [],
    probe: probeAddress(training, step),
  };
}

function wordsOf({ settings, state, moments }: Training, say: Say) {
  const early = state === "done" && (moments.at(-1)?.step ?? 0) < settings.steps;
  return early ? say("state_reached", { share: 100 * settings.until }) : say(`state_${state}`);
}

/** step 275/400 · exact 99.2 % · 6 s left */
function factsOf(training: Training, say: Say) {
  const { settings, moments } = training;
  const { steps } = settings;
  const now = moments.at(-1);
  const facts = [say("fact_step", { step: now?.step ?? 0, steps })];
  if (now) {
    const left = ((steps - now.step) * now.seconds) / now.step;
    const time = (seconds: number) => say("seconds", { count: Math.max(1, Math.round(seconds)) });
    facts.push(
      say("fact_exact", { value: (100 * now.exact).toFixed(1) }),
      isGoing(training)
        ? say("fact_left", { time: time(left) })
        : say("fact_took", { time: time(now.seconds) }),
    );
  }
  return facts;
}

/** 18.2 k tokens/s · seed 7 */
function detailsOf(training: Training, say: Say) {
  const seed = say("fact_seed", { value: training.settings.seed });
  const now = training.moments.at(-1);
  if (!now) return [seed];
  const { speed } = momentOf(training, now);
  return [say("fact_speed", { value: ((speed ?? 0) / 1000).toFixed(1) }), seed];
}

function siteOf({ task }: Settings): SiteName {
  return isContinued(task) ? "decoder" : "cross";
}

/** The gold weight of a head with equal weights on all keys, as `run_numbers.py` computes it. */
function chanceWeight({ task, longest, symbols }: Settings) {
  if (isContinued(task)) {
    const most = mostOfBlock(longest, symbols.length);
    return meanOver(SHORTEST_BLOCK, most, (block) =>
      meanOver(block + 1, longest - 1, (row) => Math.floor((row - 1) / block) / (row + 1)),
    );
  }
  // Equal symbols of a sorted sequence may come from any of them.
  const positions = (length: number) => (task === "sort" ? 1 + (length - 1) / symbols.length : 1);
  return meanOver(1, longest, (length) => positions(length) / (length + 1));
}

function meanOver(first: number, last: number, valueAt: (number: number) => number) {
  let sum = 0;
  for (let number = first; number <= last; number++) sum += valueAt(number);
  return sum / (last - first + 1);
}
