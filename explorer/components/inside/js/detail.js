import { assign, element, write } from "../../shared/js/element.js";
import { createBars } from "./bars.js";
import { decimal } from "./numbers.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * @typedef {object} Detail a vector, large: each number a bar
 * @property {HTMLElement} element
 * @property {(vector: ArrayLike<number>, name: string, kind?: string) => void} show kind: of a
 *   vector with a colour of its own
 */

const MARGINS = 60; // px beside the bars

/**
 * @param {TraceContext} context
 * @returns {Detail}
 */
export function createDetail(context) {
  const bars = createBars("path-detail-bars");
  const caption = element("p", { class: "number", testid: "path-detail-caption" });
  const node = element("div", { class: "detail", testid: "path-detail" }, caption, bars.element);
  /** @type {Detail["show"]} */
  const show = (vector, name, kind) => {
    assign(node, "data-kind", kind);
    const numbers = Array.from(vector);
    const facts = {
      name,
      count: numbers.length,
      least: decimal(Math.min(...numbers)),
      most: decimal(Math.max(...numbers)),
      length: decimal(Math.hypot(...numbers)),
    };
    write(caption, context.say("path_detail", facts));
    const title = (/** @type {number} */ index) =>
      `${name} [${index + 1}] = ${decimal(numbers[index])}`;
    const drawn = numbers.map((value, index) => ({ value, title: title(index) }));
    bars.draw(drawn, context.root.clientWidth - MARGINS);
  };
  return { element: node, show };
}
