import type { Chart, Plotly } from "../../dom/js/plotly.ts";
import type { Figure } from "../../dom/js/savedFile.ts";
import type { Palette } from "../../page/js/palette.ts";
import { beginFigure, endFigure } from "./figureSheet.ts";
import { addParagraph, LINE, MARGIN } from "./figureText.ts";

/**
 * A chart as a figure that explains itself.
 * @param given.captions lines below the title
 * @param given.project name and version
 * @param given.width of the figure, px
 * @param chart of the space inside the margins
 */
export async function chartFigure(
  plotly: Plotly,
  chart: Chart,
  given: {
    palette: Palette;
    language: string;
    title: string;
    captions: string[];
    project: string;
    width: number;
  },
): Promise<Figure> {
  const { palette, language, title, captions, project } = given;
  const figure = beginFigure(palette, language, given.width);
  let end = addParagraph(figure, title, MARGIN, { heading: true });
  for (const text of captions) end = addParagraph(figure, text, end + 2);
  const { width, height } = chart.layout;
  const options = { format: "svg", width, height, imageDataOnly: true };
  const source = await plotly.toImage(chart, options);
  const drawing = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  drawing.setAttribute("style", "overflow: visible"); // a title may reach into the margin
  drawing.setAttribute("x", String(MARGIN));
  drawing.setAttribute("y", String(end + LINE / 2));
  figure.append(drawing);
  return endFigure(figure, palette, project, end + LINE / 2 + height);
}
