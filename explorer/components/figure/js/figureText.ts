import { drawn } from "../../dom/js/drawing.ts";
import type { AttributeValue } from "../../dom/js/element.ts";
import { ISOLATE, isolated, POP_ISOLATE } from "../../dom/js/sentences.ts";
import { measuringPen, textWidth } from "../../map/js/geometry.ts";
import { labelOf, markOf, WORD_START } from "../../trace/js/label.ts";

/** Fonts of the system only: a drawing that is shown as a picture has no others. */
export const FONT =
  'Arial, "Helvetica Neue", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';
/** Widths of a figure, px: over both columns of a paper, 16 cm, and in one of them. */
export const WIDTHS = { both: 640, one: 320 };
export const TYPE = 13; // px: 9 pt where it is printed that wide
export const LINE = 18; // px between two lines
export const MARGIN = 16; // px around the figure
const HEADING = 1.15; // size of a title to the type
const PARTS =
  /\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+/gu;

/** A pen that measures text of the figure. */
export function figurePen(heading = false) {
  return measuringPen(heading ? `600 ${TYPE * HEADING}px ${FONT}` : `${TYPE}px ${FONT}`);
}

/**
 * A text broken into lines: between words, in Chinese between characters.
 * @param width px
 */
export function brokenLines(pen: CanvasRenderingContext2D, text: string, width: number) {
  const lines = [""];
  for (const part of text.match(PARTS) ?? []) {
    const longer = lines[lines.length - 1] + part;
    if (textWidth(pen, longer.trimEnd()) <= width) {
      lines[lines.length - 1] = longer;
      continue;
    }
    if (part.trim() === "") continue;
    lines.push("");
    for (const letter of textWidth(pen, part) > width ? Array.from(part) : [part]) {
      if (textWidth(pen, lines[lines.length - 1] + letter) > width) lines.push("");
      lines[lines.length - 1] += letter;
    }
  }
  return isolatedLines(lines.map((line) => line.trim()).filter(Boolean));
}

/**
 * Lines that each end the isolates that are open at their end, and begin with those of the one before.
 */
function isolatedLines(lines: string[]) {
  let open = 0;
  return lines.map((line) => {
    const begun = ISOLATE.repeat(open) + line;
    open += line.split(ISOLATE).length - line.split(POP_ISOLATE).length;
    return begun + POP_ISOLATE.repeat(open);
  });
}

/**
 * The label of a token, cut where it is longer than `width`.
 * @param width px
 */
export function shortLabel(pen: CanvasRenderingContext2D, token: string, width: number) {
  const text = markOf(token) + labelOf(token);
  if (textWidth(pen, text) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && textWidth(pen, `${letters.join("")}…`) > width) letters.pop();
  return `${letters.join("")}…`;
}

/**
 * The text of a label: the mark of a word start is fainter than the token.
 * @param faint colour of the mark
 * @param before text in front of it
 */
export function labelText(
  attributes: Record<string, AttributeValue>,
  label: string,
  faint: string,
  before = "",
) {
  const marked = label.length > 1 && label.startsWith(WORD_START);
  const mark = marked ? [drawn("tspan", { fill: faint }, WORD_START)] : [];
  return drawn("text", attributes, before, ...mark, isolated(marked ? label.slice(1) : label));
}

/** @returns px */
export function widthOf(figure: SVGElement): number {
  return Number(figure.getAttribute("width"));
}

/**
 * Lines of text from `top` on.
 * @param top px
 * @returns px, the end of the last line
 */
export function addParagraph(
  figure: SVGElement,
  text: string,
  top: number,
  { fill, heading = false }: { fill?: string; heading?: boolean } = {},
): number {
  const looks = {
    ...(fill ? { fill } : {}),
    ...(heading ? { "font-size": TYPE * HEADING, "font-weight": 600 } : {}),
  };
  const lines = brokenLines(figurePen(heading), text, widthOf(figure) - 2 * MARGIN);
  lines.forEach((line, index) => {
    figure.append(drawn("text", { x: MARGIN, y: top + (index + 0.75) * LINE, ...looks }, line));
  });
  return top + lines.length * LINE;
}
