import { measuringPen, textWidth } from "./geometry.js";
import { labelOf, markOf, WORD_START } from "./label.js";
import { ISOLATE, isolated, POP_ISOLATE } from "./sentences.js";

/** @import { AttributeValue } from "./element.js" */

/** Fonts of the system only: a drawing that is shown as a picture has no others. */
export const FONT =
  'Arial, "Helvetica Neue", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';
/** Of a figure, px: over both columns of a paper, 16 cm, and in one of them. */
export const WIDTHS = { both: 640, one: 320 };
export const TYPE = 13; // px: 9 pt where it is printed that wide
export const LINE = 18; // px between two lines
export const MARGIN = 16; // px around the figure
const HEADING = 1.15; // size of a title to the type
const PARTS =
  /\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+/gu;

/** @type {string | null} */
let namespace = null;

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Record<string, AttributeValue>} [attributes]
 * @param {...(Node | string)} children
 */
export function drawn(tag, attributes = {}, ...children) {
  namespace ??= /** @type {Element} */ (
    new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg")
  ).namespaceURI;
  const node = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return /** @type {SVGElement} */ (node);
}

/**
 * A pen that measures text of the figure.
 * @param {boolean} [heading]
 */
export function figurePen(heading = false) {
  return measuringPen(heading ? `600 ${TYPE * HEADING}px ${FONT}` : `${TYPE}px ${FONT}`);
}

/**
 * A text broken into lines: between words, in Chinese between characters.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} width px
 */
export function brokenLines(pen, text, width) {
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
 * @param {string[]} lines
 */
function isolatedLines(lines) {
  let open = 0;
  return lines.map((line) => {
    const begun = ISOLATE.repeat(open) + line;
    open += line.split(ISOLATE).length - line.split(POP_ISOLATE).length;
    return begun + POP_ISOLATE.repeat(open);
  });
}

/**
 * The label of a token, cut where it is longer than `width`.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} token
 * @param {number} width px
 */
export function shortLabel(pen, token, width) {
  const text = markOf(token) + labelOf(token);
  if (textWidth(pen, text) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && textWidth(pen, `${letters.join("")}…`) > width) letters.pop();
  return `${letters.join("")}…`;
}

/**
 * The text of a label: the mark of a word start is fainter than the token.
 * @param {Record<string, AttributeValue>} attributes
 * @param {string} label
 * @param {string} faint colour of the mark
 * @param {string} [before] text in front of it
 */
export function labelText(attributes, label, faint, before = "") {
  const marked = label.length > 1 && label.startsWith(WORD_START);
  const mark = marked ? [drawn("tspan", { fill: faint }, WORD_START)] : [];
  return drawn("text", attributes, before, ...mark, isolated(marked ? label.slice(1) : label));
}

/**
 * @param {SVGElement} figure
 * @returns {number} px
 */
export function widthOf(figure) {
  return Number(figure.getAttribute("width"));
}

/**
 * Lines of text from `top` on.
 * @param {SVGElement} figure
 * @param {string} text
 * @param {number} top px
 * @param {{fill?: string, heading?: boolean}} [looks]
 * @returns {number} px, the end of the last line
 */
export function addParagraph(figure, text, top, { fill, heading = false } = {}) {
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
