import { css, mix, rgb } from "../../shared/js/palette.js";
import { shortShare, shortValue } from "./numbers.js";

/** @import { Palette } from "../../shared/js/palette.js" */
/** @import { Moment, RunData } from "./runData.js" */
/** @import { HeadChoice } from "./replayContext.js" */

/**
 * @typedef {object} Line
 * @property {number[]} x
 * @property {(number | null)[]} y
 * @property {string} [colour]
 * @property {number} width px
 * @property {string} [dash]
 *
 * @typedef {object} Shown what panels are drawn from
 * @property {RunData} run
 * @property {Palette} palette
 * @property {HeadChoice | null} selected
 *
 * @typedef {object} Panel
 * @property {string} name
 * @property {(shown: Shown) => Line[]} lines
 * @property {(moment: Moment) => string} value at the cursor
 * @property {[number, number]} [range]
 * @property {number[]} [ticks] of that range
 * @property {boolean} [percent] of those ticks
 * @property {number} [mark] a value with a horizontal line
 * @property {number[]} [ceilings] possible upper ends of a range from 0
 * @property {boolean} [log] whether the axis is logarithmic
 * @property {number} [weight] share of the height, 1 by default
 *
 * @typedef {"loss" | "exact" | "bleu" | "chrf" | "perplexity"} CurveName
 */

const LAYER_HUES = {
  light: ["#1f5fbf", "#1a7f4b", "#7a3fb0", "#00737d", "#a1345f", "#5c6b00"],
  dark: ["#7db2ff", "#6fd08c", "#c79bf2", "#5fcfd9", "#f29bbd", "#c3d05f"],
};

/**
 * The colour of a head: a hue for each layer, paler for each further head.
 * @param {Palette} palette
 * @param {number} layer
 * @param {number} head
 * @param {number} heads
 */
export function headColour(palette, layer, head, heads) {
  const hues = LAYER_HUES[palette.dark ? "dark" : "light"];
  const hue = rgb(hues[layer % hues.length]);
  return css(mix(hue, palette.paper, (0.5 * head) / Math.max(heads, 2)));
}

/**
 * A curve through one number of every moment.
 * @template {{step: number}} Point
 * @param {Point[]} moments
 * @param {(moment: Point) => number | null | undefined} read
 * @param {Pick<Line, "colour" | "width" | "dash">} look
 * @returns {Line}
 */
function curve(moments, read, look) {
  return {
    x: moments.map(({ step }) => step),
    y: moments.map((moment) => read(moment) ?? null),
    ...look,
  };
}

/**
 * The dashed curve of the compared run, if there is one.
 * @param {Shown} shown
 * @param {CurveName | "gold"} name
 */
function comparedCurve({ run, palette }, name) {
  if (!run.other) return [];
  const look = { colour: css(mix(palette.ink, palette.paper, 0.35)), dash: "dash", width: 1.5 };
  return [curve(run.other.moments, (moment) => moment[name], look)];
}

/**
 * The curve of the run on screen over that of the compared one.
 * @param {CurveName} name
 * @returns {Panel["lines"]}
 */
function bothCurves(name) {
  return (shown) => [
    ...comparedCurve(shown, name),
    curve(shown.run.moments, (moment) => moment[name], {
      colour: css(shown.palette.ink),
      width: 2,
    }),
  ];
}

/** @type {Panel} */
const LOSS_PANEL = {
  name: "loss",
  log: true,
  lines: bothCurves("loss"),
  value: (moment) => shortValue(moment.loss),
};

/** @type {Panel[]} the curves of a toy task */
export const TASK_PANELS = [
  {
    name: "exact",
    range: [0, 1],
    mark: 0.99,
    ticks: [0, 0.5, 0.99],
    percent: true,
    lines: bothCurves("exact"),
    value: (moment) => shortShare(moment.exact),
  },
  LOSS_PANEL,
  {
    name: "gold",
    range: [0, 1],
    ticks: [0, 0.5, 1],
    weight: 1.25,
    lines: (shown) => [...comparedCurve(shown, "gold"), ...goldLines(shown)],
    value: () => "",
  },
];

/** @type {Panel[]} the curves of a translation model */
export const TRANSLATION_PANELS = [
  { ...scorePanel("bleu"), weight: 1.25 },
  scorePanel("chrf"),
  LOSS_PANEL,
  {
    name: "perplexity",
    log: true,
    lines: bothCurves("perplexity"),
    value: (moment) => shortValue(moment.perplexity),
  },
];

/**
 * A score from 0 to 100; while it is low, a part of that range fills the panel.
 * @param {"bleu" | "chrf"} name
 * @returns {Panel}
 */
function scorePanel(name) {
  return {
    name,
    ceilings: [25, 50, 100],
    lines: bothCurves(name),
    value: (moment) => moment[name]?.toFixed(1) ?? "–",
  };
}

/**
 * One line a head; the selected one thick and last.
 * @param {Shown} shown
 */
function goldLines({ run, palette, selected }) {
  const shape = run.moments.at(-1)?.gold ?? [];
  const lines = shape.flatMap((heads, layer) =>
    heads.map((_, head) => {
      const mine = selected?.layer === layer && selected.head === head;
      const look = {
        colour: headColour(palette, layer, head, heads.length),
        width: mine ? 3.5 : 1.3,
      };
      return { mine, line: curve(run.moments, (moment) => moment.gold[layer]?.[head], look) };
    }),
  );
  return lines.sort((one, other) => Number(one.mine) - Number(other.mine)).map(({ line }) => line);
}

/** @type {Panel[]} the curves in the drawer */
export const MORE_PANELS = [
  simplePanel("rate", (moment) => moment.rate),
  simplePanel("norm", (moment) => moment.norm),
  { name: "norms", log: true, lines: normLines, value: () => "" },
  simplePanel("speed", (moment) => (moment.speed === null ? null : moment.speed / 1000)),
  simplePanel("memory", (moment) => moment.memory),
];

/**
 * One line, on an axis from 0.
 * @param {string} name
 * @param {(moment: Moment) => number | null} read
 * @returns {Panel}
 */
function simplePanel(name, read) {
  return {
    name,
    lines: ({ run, palette }) => [
      curve(run.moments, read, { colour: css(palette.ink), width: 1.6 }),
    ],
    value: (moment) => shortValue(read(moment)),
  };
}

/**
 * The gradient norms, one line a layer; the encoder in one hue, the decoder in another.
 * @param {Shown} shown
 */
function normLines({ run, palette }) {
  const names = Object.keys(run.moments.at(-1)?.norms ?? {});
  return names.map((name) => {
    const side = name.startsWith("encoder") ? 0 : 1;
    const own = names.filter((other) => other.startsWith("encoder") === (side === 0));
    const colour = headColour(palette, side, own.indexOf(name), own.length);
    return curve(run.moments, (moment) => moment.norms[name], { colour, width: 1.3 });
  });
}
