import { percent, shortWeight } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { addPanels } from "../../figure/js/figurePanels.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { FONT, LINE, WIDTHS } from "../../figure/js/figureText.ts";
import { printPalette } from "../../page/js/palette.ts";
import { headName, siteOf } from "../../trace/js/stepState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { probeText } from "./probeText.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";
import { learnsSentences, type Moment } from "./runData.ts";

type Pictured = { moment: Moment; trace: Trace }; // a moment whose probe trace has arrived

const MOST_MOMENTS = { both: 8, one: 4 }; // in a figure over both columns of a paper, or in one

/**
 * How cross heads change during the training, as a figure that explains itself: heads as rows,
 * moments as columns.
 * @param probe whose scale is used
 * @param width px
 * @returns null as long as no probe trace has arrived
 */
export function momentsFigure(
  replay: ReplayContext,
  probe: TraceContext,
  heads: HeadChoice[],
  width?: number,
): Figure | null {
  const most = MOST_MOMENTS[width === WIDTHS.one ? "one" : "both"];
  const shown = spread(pictured(replay), most);
  if (shown.length === 0 || heads.length === 0) return null;
  const palette = printPalette(FONT);
  const contextOf = (trace: Trace, head: HeadChoice): TraceContext => ({
    ...probe,
    palette,
    trace,
    pieces: trace,
    state: { ...probe.state, ...head, site: "cross", step: 0, words: false, alignment: "off" },
  });
  const last = contextOf(shown[shown.length - 1].trace, heads[0]);
  const { figure, end, finish } = beginFigure(replay.run, {
    palette,
    title: title(replay, shown),
    captions: captions(replay, last),
    width,
  });
  const panels = {
    ...content(replay, shown, heads),
    shape: siteOf(last),
    contextOf: (row: number, column: number) => contextOf(shown[column].trace, heads[row]),
  };
  return finish(addPanels(figure, end + LINE / 2, panels));
}

/** At most `most` of the moments, evenly spread, the first and the last among them. */
export function spread<Moment>(moments: Moment[], most: number) {
  const count = Math.min(moments.length, most);
  if (count < 2) return moments.slice(-count || moments.length);
  const last = moments.length - 1;
  return Array.from(
    { length: count },
    (_, index) => moments[Math.round((index * last) / (count - 1))],
  );
}

function pictured({ run, traces }: ReplayContext): Pictured[] {
  return run.moments.flatMap((moment) => {
    const trace = traces.get(moment.probe);
    return trace ? [{ moment, trace }] : [];
  });
}

/** Which run, and which part of its training. */
function title({ run, say }: ReplayContext, shown: Pictured[]) {
  const [from, to] = [shown[0], shown[shown.length - 1]].map(({ moment }) => moment.step);
  return say("moments_heading", { run: run.name, from, to });
}

/** The settings, how to read a panel, and the text. */
function captions({ run, say }: ReplayContext, probe: TraceContext) {
  const text = `${probeText(run, probe.trace)} · ${say("forced")}`;
  return [
    run.settings.demo,
    `${probe.say("figure_axes_cross")} ${probe.say("figure_weights")}`,
    hasGold(run.moments) ? say("moments_gold") : "",
    probe.say("figure_text", { text }),
  ];
}

function hasGold(moments: Moment[]) {
  return moments.some(({ gold }) => gold.flat().some((weight) => weight !== null));
}

/** The texts beside the panels. */
function content({ run, say }: ReplayContext, shown: Pictured[], heads: HeadChoice[]) {
  const score = run.translates ? "bleu" : run.continues ? "perplexity" : "exact";
  const moments = shown.map(({ moment }) => moment);
  const scoreOf = (moment: Moment) => {
    const value = moment[score] ?? null;
    if (value === null) return "–";
    return learnsSentences(run) ? value.toFixed(1) : percent(value);
  };
  return {
    facts: [say("step_axis"), say(score)],
    columns: moments.map((moment) => [String(moment.step), scoreOf(moment)]),
    rows: heads.map(({ layer, head }) => headName(layer, head)),
    below: hasGold(moments)
      ? heads.map(({ layer, head }) =>
          moments.map(({ gold }) => {
            const weight = gold[layer]?.[head] ?? null;
            return weight === null ? "–" : shortWeight(weight);
          }),
        )
      : [],
  };
}
