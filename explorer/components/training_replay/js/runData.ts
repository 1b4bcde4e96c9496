import type { Strings } from "../../dom/js/sentences.ts";
import type { SiteName } from "../../trace/js/trace.ts";

/** The numbers of a moment that are drawn as curves; null leaves a gap. */
export interface Curves {
  step: number;
  /** on training data; of older runs, mean over the batches since the last moment */
  loss: number | null;
  held_out: number | null; // loss on held-out data, in the same unit
  exact: number | null; // of pairs, only where none is held out
  bleu?: number | null;
  chrf?: number | null;
  perplexity?: number | null;
  accuracy?: number | null; // of texts: the share of the next tokens that are the most probable ones
  known_loss?: number | null; // of symbols that can be copied, where a toy task is continued
  new_loss?: number | null; // of the others
}

/** Measured of every head at a moment, by layer and head. */
export interface HeadWeights {
  gold: (number | null)[][];
  previous?: (number | null)[][]; // weight on the token before, where a toy task is continued
}

/** One evaluation during a training; `probe`: address of its trace. */
export type Moment = Curves &
  HeadWeights & {
    rate: number | null;
    norm: number | null;
    norms: Record<string, number | null>;
    speed: number | null;
    memory: number | null;
    greedy: string;
    written: string[];
    probe: string | null;
  };

type ComparedMoment = Curves & { [weights in keyof HeadWeights]: number | null }; // of the best head

interface RunReport {
  state: string;
  going: boolean; // whether the run may still change
  share: number; // 0..1
  words: string;
  facts: string[];
  details: string[]; // of the machine, and the seed, which Simple leaves out
  problem: string;
}

/** The settings of a run as text; "" for nothing to say. */
interface RunSettings {
  badges: string[];
  demo: string;
}

/** What sets a run apart from those beside it, and what it reached. */
export interface ComparisonRow {
  name: string;
  settings: string;
  mastered: number | null; // first step with 99 % exact match
  best_loss: number | null; // lowest held-out loss
  best_step: number | null;
  bleu: number | null; // the highest
  perplexity: number | null; // the lowest
}

/** A training run, as `training_replay/payload.py` describes it. */
export interface RunData {
  key: string;
  name: string;
  language: string;
  strings: Strings;
  player: Strings;
  project: string; // name and version of the project
  steps: number;
  every: number; // steps between two moments
  task: string;
  site: SiteName; // the attention whose heads are drawn as curves
  translates: boolean;
  continues: boolean; // whether it learns to continue texts
  causal: boolean; // whether the decoder has its causal mask
  batch_loss: boolean; // whether the training loss is that of the batches, dropout included
  chance: number | null; // gold weight of a head that looks everywhere alike
  samples: { source: string; reference: string }[];
  moments: Moment[];
  best: number | null; // step of the lowest held-out loss
  others: { name: string; moments: ComparedMoment[] }[]; // compared runs
  rows: ComparisonRow[]; // of this run and the compared ones; none without compared ones
  report: RunReport;
  settings: RunSettings;
  opens: boolean; // whether there is a model that Explore can open
  /** to where the leak without a causal mask is seen; no address: no link */
  link: { address: string; label: string };
  log: string[];
  /** names of this run and the compared ones, on the page of the host of a class */
  shared?: { run: string; others: string[] };
}

export function readRunData(bytes: Uint8Array): RunData {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Whether a run is on sentences of a file, not on a toy task. */
export function learnsSentences({ translates, continues }: LearntKind) {
  return translates || continues;
}

/** What the parts of a replay are made for; a run of another kind needs a replay of its own. */
export function runKind({ language, translates, continues, site }: RunData) {
  return [language, translates, continues, site].join(" ");
}

export type LearntKind = Pick<RunData, "translates" | "continues">;

/** Whether a run learns all its pairs, and is judged on them: so few that none is held out. */
export function learnsAll({ translates, moments }: Pick<RunData, "translates" | "moments">) {
  return translates && typeof moments[0]?.exact === "number";
}

/** The head with the largest gold weight at a moment; null where no gold weight is known. */
export function sharpestHead(moment: Moment | undefined) {
  const gold = moment?.gold ?? [];
  const heads = gold.flatMap((weights, layer) =>
    weights.map((weight, head) => ({ layer, head, weight: weight ?? -1 })),
  );
  const best = heads.reduce((one, other) => (other.weight > one.weight ? other : one), {
    layer: 0,
    head: 0,
    weight: -1,
  });
  return best.weight < 0 ? null : { layer: best.layer, head: best.head };
}

/** The index of the moment nearest to `step`; −1 without moments. */
export function nearestMoment(moments: { step: number }[], step: number) {
  let best = -1;
  moments.forEach((moment, index) => {
    if (best < 0 || Math.abs(moment.step - step) < Math.abs(moments[best].step - step))
      best = index;
  });
  return best;
}
