import { csvTable } from "../../dom/js/csv.ts";
import { drawn } from "../../dom/js/drawing.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { figureOrigin } from "../../figure/js/figureOrigin.ts";
import { beginFigure } from "../../figure/js/figureSheet.ts";
import { addParagraph, FONT, figurePen, LINE, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { signedLines } from "../../figure/js/signedBars.ts";
import { textWidth } from "../../map/js/geometry.ts";
import { css, inkOn, printPalette } from "../../page/js/palette.ts";
import { currentRow, headAt, stepName } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Attribution, HeadParts } from "./attribution.ts";
import { titleOf } from "./candidatesText.ts";
import { barsOf, factsOf, shortPart, signedColour, stepParts } from "./headParts.ts";

const GAP = 8; // px
const PAD = 2; // px beside the number of a cell

/**
 * The parts of heads in the choice of the next token as a figure that explains itself: what is on
 * screen in their place.
 * @param width px
 */
export function headPartsFigure(given: TraceContext, found: Attribution, width: number): Figure {
  const context = { ...given, palette: printPalette(FONT) };
  const { say, trace, palette } = context;
  const row = currentRow(context);
  const parts = stepParts(context, found);
  const facts = factsOf(context, parts, row);
  const forced = parts.difference < 0 ? [say("parts_forced", facts)] : [];
  const texts = [say("parts_sentence", facts), ...forced, say("figure_parts", facts)];
  let { figure, end, finish } = beginFigure(trace.header, {
    palette,
    title: `${titleOf(context, row)} · ${stepName(context)}`,
    captions: [...figureOrigin(context), ...texts],
    width,
  });
  for (const attention of parts.attentions) {
    end = addParagraph(figure, say(`site_${attention.site}`), end + LINE / 2);
    figure.append(...cells(context, attention, found.largestHead, end, width));
    end += (1 + attention.values.length / attention.heads) * LINE;
  }
  const bars = barsOf(say, parts);
  end += LINE / 2;
  figure.append(...signedLines(palette, bars, found.largest, end, width));
  return finish(end + bars.length * LINE + LINE / 2);
}

/**
 * A line of cells for each layer below the names of the heads; without the numbers where the cells
 * are narrower than those.
 * @param top px
 * @param sheet px
 */
function cells(
  { palette }: TraceContext,
  { heads, values }: HeadParts,
  largest: number,
  top: number,
  sheet: number,
) {
  const pen = figurePen();
  const layers = values.length / heads;
  const left = MARGIN + textWidth(pen, `L${layers - 1}`) + GAP;
  const width = Math.min((sheet - MARGIN - left) / heads, 4 * TYPE);
  const numbers = Array.from(values, shortPart);
  const names = Array.from({ length: heads }, (_, head) => `H${head}`);
  const fits = [...numbers, ...names].every((text) => textWidth(pen, text) + PAD < width);
  const inCell = (column: number, line: number, text: string, looks: object = {}) => {
    const place = { x: left + (column + 0.5) * width, y: top + (line + 0.75) * LINE };
    return fits ? [drawn("text", { ...place, "text-anchor": "middle", ...looks }, text)] : [];
  };
  const filled = numbers.flatMap((number, index) => {
    const { layer, head } = headAt(index, heads);
    const colour = signedColour(palette, values[index], largest);
    const place = { x: left + head * width, y: top + (layer + 1) * LINE };
    const looks = { fill: css(colour), stroke: css(palette.paper), "stroke-width": 1 };
    return [
      drawn("rect", { ...place, width, height: LINE, ...looks }),
      ...inCell(head, layer + 1, number, { fill: inkOn(colour) }),
    ];
  });
  const lines = Array.from({ length: layers }, (_, layer) =>
    drawn("text", { x: MARGIN, y: top + (layer + 1.75) * LINE }, `L${layer}`),
  );
  return [...names.flatMap((name, head) => inCell(head, 0, name)), ...lines, ...filled];
}

/**
 * All parts at the current step as CSV, in nats: heads by attention and layer, what else adds up, and
 * their sum, the difference of the two log probabilities.
 */
export function headPartsTable(context: TraceContext, found: Attribution) {
  const parts = stepParts(context, found);
  const { token, other } = factsOf(context, parts, currentRow(context));
  const heads = parts.attentions.flatMap(({ site, heads, values }) =>
    Array.from(values, (value, index) => {
      const { layer, head } = headAt(index, heads);
      return [site, layer, head, rounded(value)];
    }),
  );
  const others = [...parts.others, { name: "difference", value: parts.difference }].map(
    ({ name, value }) => [name, "", "", rounded(value)],
  );
  const head = ["step", "token", "runner_up", "part", "layer", "head", "nats"];
  const place = [context.state.step, token, other];
  return csvTable([head, ...[...heads, ...others].map((line) => [...place, ...line])]);
}

function rounded(value: number) {
  return Number(value.toFixed(6));
}
