import { buttonElement } from "../../dom/js/element.ts";
import { type Figure, saveFigure } from "../../dom/js/savedFile.ts";
import { WIDTHS } from "./figureText.ts";

const CHOICES: ["png" | "svg" | "svg_column", "png" | "svg", keyof typeof WIDTHS][] = [
  ["png", "png", "both"],
  ["svg", "svg", "both"],
  ["svg_column", "svg", "one"],
];

/** Ends of file names, by the width that is saved. */
const ENDINGS = { both: "", one: "-column" };

/**
 * The buttons that save a figure: PNG, SVG, and SVG for one column of a paper.
 * @param say of the sentences of the player
 * @param given.figure px; null as long as there is nothing to draw
 * @param given.fileName without its ending
 * @param given.prefix of the test ids
 */
export function figureButtons(
  say: (key: string) => string,
  {
    figure,
    fileName,
    prefix = "",
  }: {
    figure: (width: number) => Figure | null | Promise<Figure>;
    fileName: () => string;
    prefix?: string;
  },
): HTMLButtonElement[] {
  return CHOICES.map(([name, format, width]) => {
    const click = async () => {
      const drawing = await figure(WIDTHS[width]);
      if (drawing) saveFigure(fileName() + ENDINGS[width], format, drawing);
    };
    const looks = { class: "quiet save", testid: prefix + name, title: say(`${name}_title`) };
    return buttonElement(click, looks, say(name));
  });
}
