import { element } from "../../shared/js/element.js";
import { createBox } from "./box.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadVectors } from "./arithmetic.js" */
/** @import { BoxContent, ShownVector } from "./box.js" */
/** @import { TokenPath } from "./tokenPath.js" */

/**
 * @typedef {(context: TraceContext, path: TokenPath, head: HeadVectors, cell: Cell) => Record<string, BoxContent | null>} ContentsOf
 *
 * @typedef {object} PathView a part of the path of a token, from left to right
 * @property {HTMLElement} element
 * @property {(path: TokenPath, head: HeadVectors, cell: Cell) => void} draw
 * @property {(name: string) => ShownVector | null} shown by the box of this name
 */

/**
 * Boxes from left to right.
 * @param {TraceContext} context
 * @param {string[]} names
 * @param {ContentsOf} contentsOf what the boxes show; null where there is none
 * @param {(name: string) => void} enlarge called with the name of the box that was clicked
 * @returns {PathView}
 */
export function createPath(context, names, contentsOf, enlarge) {
  const boxes = names.map((name) => createBox(context, name, () => enlarge(name)));
  const node = element(
    "ol",
    { class: "inside-steps path" },
    ...boxes.map(({ element: box }) => box),
  );
  /** @type {PathView["draw"]} */
  const draw = (path, head, cell) => {
    const contents = contentsOf(context, path, head, cell);
    names.forEach((name, index) => {
      boxes[index].draw(contents[name] ?? null);
    });
  };
  /** @type {PathView["shown"]} */
  const shown = (name) => boxes[names.indexOf(name)]?.shown() ?? null;
  return { element: node, draw, shown };
}
