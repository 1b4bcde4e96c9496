import { percent, shortValue } from "../../dom/js/numbers.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { css, mix, type Palette, rgb } from "../../page/js/palette.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { HeadChoice } from "./replayContext.ts";
import {
  type Curves,
  type HeadWeights,
  type LearntKind,
  learnsAll,
  type Moment,
  type RunData,
} from "./runData.ts";

export interface Line {
  name: string; // at its right end; "" for none
  mine?: boolean; // whether it is the selected one of its kind
  x: number[];
  y: (number | null)[];
  colour: string;
  width: number; // px
  dash?: string;
}

/** What panels are drawn from. */
export interface CurveContext {
  run: RunData;
  palette: Palette;
  selected: HeadChoice | null;
  say: Say;
}

export interface Panel {
  name: string;
  lines: (shown: CurveContext) => Line[];
  value: (moment: Moment) => string; // at the cursor
  hover?: string; // how Plotly writes a value under the pointer; with three digits by default
  room?: number; // px for the names of the lines
  starred?: boolean; // whether the best moment is marked on it
  range?: [number, number];
  ticks?: number[]; // of that range
  percent?: boolean; // of those ticks
  mark?: number; // a value with a horizontal line
  ceilings?: number[]; // possible upper ends of a range from 0
  log?: boolean; // whether the axis is logarithmic
  weight?: number; // share of the height, 1 by default
}

const LAYER_HUES = {
  light: ["#1f5fbf", "#1a7f4b", "#7a3fb0", "#00737d", "#a1345f", "#5c6b00"],
  dark: ["#7db2ff", "#6fd08c", "#c79bf2", "#5fcfd9", "#f29bbd", "#c3d05f"],
};

/** The colour of a head: a hue for each layer, paler for each further head. */
export function headColour(palette: Palette, layer: number, head: number, heads: number) {
  const hues = LAYER_HUES[palette.dark ? "dark" : "light"];
  const hue = rgb(hues[layer % hues.length]);
  return css(mix(hue, palette.paper, (0.5 * head) / Math.max(heads, 2)));
}

/**
 * The colour of a compared run; the run on screen has that of the text.
 * @param index of the run, 0 = the one on screen
 */
export function runColour(palette: Palette, index: number) {
  if (index === 0) return css(palette.ink);
  const hues = LAYER_HUES[palette.dark ? "dark" : "light"];
  return hues[(index - 1) % hues.length];
}

/** A curve through one number of every moment. */
function curve<Point extends { step: number }>(
  name: string,
  moments: Point[],
  read: (moment: Point) => number | null | undefined,
  look: Pick<Line, "colour" | "width" | "dash" | "mine">,
): Line {
  return {
    name,
    x: moments.map(({ step }) => step),
    y: moments.map((moment) => read(moment) ?? null),
    ...look,
  };
}

/** The curves of the compared runs. */
function comparedCurves(
  { run, palette }: CurveContext,
  read: (moment: RunData["others"][number]["moments"][number]) => number | null | undefined,
) {
  return run.others.map((other, index) => {
    const look = { colour: runColour(palette, index + 1), dash: DASHES[index]?.[0], width: 1.8 };
    return curve(other.name, other.moments, read, look);
  });
}

/** The curve of the run on screen over those of the compared ones; named only among these. */
function allCurves(read: (moment: Curves) => number | null | undefined): Panel["lines"] {
  return (shown) => {
    const { run, palette } = shown;
    const look = { colour: css(palette.ink), width: 2 };
    const label = run.others.length ? run.name : "";
    return [...comparedCurves(shown, read), curve(label, run.moments, read, look)];
  };
}

/**
 * Training and held-out loss, which have one unit; of compared runs the held-out loss alone. Where
 * nothing is held out, both are one line.
 */
function lossLines(shown: CurveContext) {
  const { run, palette, say } = shown;
  const alone = run.others.length === 0;
  const muted = css(mix(palette.ink, palette.paper, 0.35));
  if (learnsAll(run)) return allCurves(heldOut)(shown);
  return [
    ...comparedCurves(shown, heldOut),
    curve(say("loss_training"), run.moments, ({ loss }) => loss, { colour: muted, width: 1.2 }),
    curve(alone ? say("loss_held_out") : run.name, run.moments, heldOut, {
      colour: css(palette.ink),
      width: 2,
    }),
  ];
}

const heldOut = ({ held_out }: Curves) => held_out;

/** How the curves of compared runs are broken, as Plotly and as SVG names it. */
const DASHES = [
  ["dash", "9 9"],
  ["dot", "3 3"],
  ["dashdot", "9 3 3 3"],
  ["longdash", "15 15"],
];

/**
 * The dashes of a run in the key to its curves; "" where they are whole.
 * @param index of the run, 0 = the one on screen
 */
export function runDashes(index: number) {
  return DASHES[index - 1]?.[1] ?? "";
}

const LOSS_PANEL: Panel = {
  name: "loss",
  log: true,
  starred: true,
  lines: lossLines,
  value: ({ loss, held_out }) => `${shortValue(held_out)} · ${shortValue(loss)}`,
};

const EXACT_PANEL: Panel = {
  name: "exact",
  range: [0, 1],
  mark: 0.99,
  ticks: [0, 0.5, 0.99],
  percent: true,
  hover: ".1%",
  lines: allCurves(({ exact }) => exact),
  value: (moment) => percent(moment.exact),
};

/** The curves of a toy task. */
const TASK_PANELS: Panel[] = [EXACT_PANEL, LOSS_PANEL, { ...headPanel("gold"), weight: 1.25 }];

/** The curves of a toy task that is continued. */
const CONTINUED_PANELS: Panel[] = [
  EXACT_PANEL,
  {
    name: "known_loss",
    log: true,
    lines: knownLines,
    value: (moment) => `${shortValue(moment.known_loss)} · ${shortValue(moment.new_loss)}`,
  },
  headPanel("previous"),
  headPanel("gold"),
];

const PERPLEXITY_PANEL: Panel = {
  name: "perplexity",
  log: true,
  lines: allCurves(({ perplexity }) => perplexity),
  value: (moment) => shortValue(moment.perplexity),
};

/** The curves of a translation model. */
const TRANSLATION_PANELS: Panel[] = [
  { ...scorePanel("bleu", ({ bleu, exact }) => bleu ?? hundredfold(exact)), weight: 1.25 },
  scorePanel("chrf", ({ chrf }) => chrf ?? null),
  LOSS_PANEL,
  PERPLEXITY_PANEL,
];

/** The curves of a language model. */
const TEXT_PANELS: Panel[] = [
  scorePanel("accuracy", ({ accuracy = null }) => hundredfold(accuracy)),
  LOSS_PANEL,
  PERPLEXITY_PANEL,
];

/** The main curves of a run. */
export function panelsOf({
  translates,
  continues,
  site,
}: Pick<RunData, keyof LearntKind | "site">) {
  if (continues) return TEXT_PANELS;
  if (translates) return TRANSLATION_PANELS;
  return site === "decoder" ? CONTINUED_PANELS : TASK_PANELS;
}

/**
 * The key of a panel's name: the loss of batches is not in the unit of the held-out loss, and the
 * score of pairs that are all learnt is the share that is right.
 */
export function headingOf(
  run: Pick<RunData, "batch_loss" | "translates" | "moments">,
  { name }: Pick<Panel, "name">,
) {
  if (learnsAll(run) && (name === "loss" || name === "bleu")) return `${name}_all`;
  return name === "loss" && run.batch_loss ? "loss_batches" : name;
}

/** A score from 0 to 100; while it is low, a part of that range fills the panel. */
function scorePanel(
  name: "bleu" | "chrf" | "accuracy",
  read: (moment: Curves) => number | null,
): Panel {
  return {
    name,
    ceilings: [25, 50, 100],
    lines: allCurves(read),
    value: (moment) => read(moment)?.toFixed(1) ?? "–",
  };
}

const hundredfold = (share: number | null) => (share === null ? null : 100 * share);

/** A weight of every head, from 0 to 1; beside compared runs, of the best one of each. */
function headPanel(name: keyof HeadWeights): Panel {
  return {
    name,
    range: [0, 1],
    ticks: [0, 0.5, 1],
    hover: ".2f",
    lines: (shown) =>
      shown.run.others.length ? bestHeadLines(shown, name) : headLines(shown, name),
    value: () => "",
  };
}

/** The losses of symbols that can be copied and of new ones; of compared runs the first alone. */
function knownLines(shown: CurveContext) {
  const { run, palette, say } = shown;
  const known = ({ known_loss }: Curves) => known_loss;
  if (run.others.length) return allCurves(known)(shown);
  const muted = css(mix(palette.ink, palette.paper, 0.35));
  return [
    curve(say("loss_new"), run.moments, ({ new_loss }) => new_loss, { colour: muted, width: 1.2 }),
    curve(say("loss_known"), run.moments, known, { colour: css(palette.ink), width: 2 }),
  ];
}

/** One line a head; the selected one thick, in its place: another order would draw all anew. */
function headLines({ run, palette, selected }: CurveContext, of: keyof HeadWeights) {
  const shape = run.moments.at(-1)?.[of] ?? [];
  return shape.flatMap((heads, layer) =>
    heads.map((_, head) => {
      const mine = selected?.layer === layer && selected.head === head;
      const look = {
        colour: headColour(palette, layer, head, heads.length),
        width: mine ? 3.5 : 1.3,
        mine,
      };
      const name = headName(layer, head);
      return curve(name, run.moments, (moment) => moment[of]?.[layer]?.[head], look);
    }),
  );
}

/** One line a run: its best head at each moment. */
function bestHeadLines(shown: CurveContext, of: keyof HeadWeights) {
  const { run, palette } = shown;
  const look = { colour: css(palette.ink), width: 2 };
  const best = (moment: Moment) => {
    const known = (moment[of] ?? []).flat().filter((weight) => weight !== null);
    return known.length ? Math.max(...known) : null;
  };
  return [
    ...comparedCurves(shown, (moment) => moment[of]),
    curve(run.name, run.moments, best, look),
  ];
}

/** The curves in the drawer. */
export const MORE_PANELS: Panel[] = [
  simplePanel("rate", (moment) => moment.rate),
  simplePanel("norm", (moment) => moment.norm),
  { name: "norms", log: true, room: 116, lines: normLines, value: () => "" },
  simplePanel("speed", (moment) => (moment.speed === null ? null : moment.speed / 1000)),
  simplePanel("memory", (moment) => moment.memory),
];

/** One line, on an axis from 0. */
function simplePanel(name: string, read: (moment: Moment) => number | null): Panel {
  return {
    name,
    room: 0,
    lines: ({ run, palette }) => [
      curve("", run.moments, read, { colour: css(palette.ink), width: 1.6 }),
    ],
    value: (moment) => shortValue(read(moment)),
  };
}

/** The gradient norms, one line a layer; the encoder in one hue, the decoder in another. */
function normLines({ run, palette }: CurveContext) {
  const names = Object.keys(run.moments.at(-1)?.norms ?? {});
  return names.map((name) => {
    const side = name.startsWith("encoder") ? 0 : 1;
    const own = names.filter((other) => other.startsWith("encoder") === (side === 0));
    const colour = headColour(palette, side, own.indexOf(name), own.length);
    return curve(name, run.moments, (moment) => moment.norms[name], { colour, width: 1.3 });
  });
}
