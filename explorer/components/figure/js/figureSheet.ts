import { drawn } from "../../dom/js/drawing.ts";
import type { Chart, Plotly } from "../../dom/js/plotly.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import { definitions } from "../../map/js/pattern.ts";
import { css, mix, type Palette } from "../../page/js/palette.ts";
import { addParagraph, FONT, LINE, MARGIN, TYPE, WIDTHS } from "./figureText.ts";

type Origin = { language: string; project?: string }; // `project`: name and version

/** What a figure says above what it shows. */
interface FigureTexts {
  palette: Palette;
  title: string;
  captions: string[]; // "" = none
  width?: number; // of the figure, px
}

const MUTED = 0.72; // of the ink

/**
 * A figure that explains itself, down to its captions, with what a map and a legend in it refer to.
 * @returns `end`, px; `finish` names the project below what was added, and fits the figure to it
 */
export function beginFigure(
  { language, project = "" }: Origin,
  { palette, title, captions, width = WIDTHS.both }: FigureTexts,
): { figure: SVGElement; end: number; finish: (end: number) => Figure } {
  const looks = { "font-family": FONT, "font-size": TYPE, fill: css(palette.ink) };
  const figure = drawn(
    "svg",
    { width, ...looks, lang: language },
    definitions(palette),
    drawn("rect", { width: "100%", height: "100%", fill: css(palette.paper) }),
  );
  let end = addParagraph(figure, title, MARGIN, { heading: true });
  for (const text of captions.filter(Boolean)) end = addParagraph(figure, text, end + 2);
  const finish = (last: number) => {
    const fill = css(mix(palette.paper, palette.ink, MUTED));
    const height = Math.ceil(addParagraph(figure, project, last + 2, { fill }) + MARGIN / 2);
    figure.setAttribute("height", String(height));
    figure.setAttribute("viewBox", `0 0 ${width} ${height}`);
    return { drawing: figure, width, height };
  };
  return { figure, end, finish };
}

/**
 * A chart as a figure that explains itself.
 * @param chart of the space inside the margins
 */
export async function chartFigure(
  plotly: Plotly,
  chart: Chart,
  origin: Origin,
  texts: FigureTexts,
): Promise<Figure> {
  const { figure, end, finish } = beginFigure(origin, texts);
  const { width, height } = chart.layout;
  const options = { format: "svg", width, height, imageDataOnly: true };
  const source = await plotly.toImage(chart, options);
  const drawing = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  drawing.setAttribute("style", "overflow: visible"); // a title may reach into the margin
  drawing.setAttribute("x", String(MARGIN));
  drawing.setAttribute("y", String(end + LINE / 2));
  figure.append(drawing);
  return finish(end + LINE / 2 + height);
}
