import { percent, shortWeight } from "../../dom/js/numbers.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureCells } from "../../figure/js/figureCells.ts";
import { addLegend, shownCodes } from "../../figure/js/figureLegend.ts";
import { beginFigure, endFigure } from "../../figure/js/figureSheet.ts";
import {
  addParagraph,
  drawn,
  FONT,
  figurePen,
  LINE,
  MARGIN,
  WIDTHS,
  widthOf,
} from "../../figure/js/figureText.ts";
import { placePanels } from "../../figure/js/panelLayout.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { css, printPalette } from "../../page/js/palette.ts";
import { headName, siteOf } from "../../trace/js/stepState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { probeText } from "./probeText.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";
import type { Moment } from "./runData.ts";
import { spread } from "./spread.ts";

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
  const contextOf: (trace: Trace, head: HeadChoice) => TraceContext = (trace, head) => ({
    ...probe,
    palette,
    trace,
    pieces: trace,
    state: { ...probe.state, ...head, site: "cross", step: 0, words: false, alignment: "off" },
  });
  const last = contextOf(shown[shown.length - 1].trace, heads[0]);
  const figure = beginFigure(palette, replay.run.language, width);
  let end = addParagraph(figure, title(replay, shown), MARGIN, { heading: true });
  for (const text of captions(replay, last)) end = addParagraph(figure, text, end + 2);
  const layout = placePanels({
    ...content(replay, shown, heads),
    sheet: widthOf(figure),
    top: end + LINE / 2,
    shape: siteOf(last),
  });
  figure.append(...layout.texts.map(({ text, ...place }) => drawn("text", place, text)));
  const codes: Set<number> = new Set();
  const size = {
    width: layout.across * siteOf(last).keys,
    height: layout.down * siteOf(last).queries,
  };
  const edge = { ...size, fill: "none", stroke: css(palette.ink), "stroke-width": 0.5 };
  for (const { column, row, left, top } of layout.panels) {
    const context = contextOf(shown[column].trace, heads[row]);
    for (const code of shownCodes(context)) codes.add(code);
    figure.append(...figureCells(context, { ...layout, left, top }));
    figure.append(drawn("rect", { x: left, y: top, ...edge }));
  }
  end = addLegend(figure, last, layout.end + LINE / 2, { codes: [...codes].sort() });
  return endFigure(figure, palette, replay.run.project, end);
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
  ].filter(Boolean);
}

function hasGold(moments: Moment[]) {
  return moments.some(({ gold }) => gold.flat().some((weight) => weight !== null));
}

/** The texts beside the panels. */
function content({ run, say }: ReplayContext, shown: Pictured[], heads: HeadChoice[]) {
  const pen = figurePen();
  const score = run.translates ? "bleu" : "exact";
  const moments = shown.map(({ moment }) => moment);
  const scoreOf = (moment: Moment) => {
    const value = moment[score] ?? null;
    if (value === null) return "–";
    return run.translates ? value.toFixed(1) : percent(value);
  };
  return {
    measure: (text: string) => textWidth(pen, text),
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
