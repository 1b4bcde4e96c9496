import { assign, element, write } from "../../shared/js/element.js";
import { equation } from "./equations.js";
import { createVectorCells } from "./vectorCells.js";

/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { Cost } from "./costs.js" */
/** @import { VectorKind } from "./vectorCells.js" */

/**
 * @typedef {object} Box one part of a path: its name, equation, vector, shape and cost
 * @property {HTMLElement} element
 * @property {(content: BoxContent | null) => void} draw null hides it
 * @property {() => ShownVector | null} shown its vector and name
 *
 * @typedef {{vector: ArrayLike<number>, name: string}} ShownVector
 *
 * @typedef {object} BoxContent
 * @property {ArrayLike<number>} [vector]
 * @property {string} [text] in place of a vector, or below it
 * @property {string} [equation] its name
 * @property {Cost} [cost]
 * @property {string} [heading] in place of the usual one
 */

/** @type {Record<string, VectorKind>} by box, the kind of a vector with a colour of its own */
export const KINDS = { query: "query", key: "key", values: "value", heads: "mixed" };

/**
 * A part of a path.
 * @param {TraceContext} context
 * @param {string} name of its sentences and test id
 * @param {() => void} enlarge called when its vector was clicked
 * @returns {Box}
 */
export function createBox(context, name, enlarge) {
  const { say } = context;
  const heading = element("h3", {});
  const formula = element("p", { class: "formula" });
  const cells = createVectorCells(`path-${name}-vector`, KINDS[name]);
  const large = element("button", {
    type: "button",
    class: "enlarge",
    title: say("path_enlarge"),
    "aria-label": `${say(`path_${name}`)}: ${say("path_enlarge")}`,
    on: { click: enlarge },
  });
  large.append(cells.element);
  const text = element("p", { class: "number", testid: `path-${name}-text` });
  const shape = element("p", { class: "shape" });
  const cost = element("p", { class: "cost" });
  const node = element(
    "li",
    { class: `inside-step ${name}`, testid: `path-${name}`, title: say(`path_${name}_title`) },
    heading,
    formula,
    large,
    text,
    shape,
    cost,
  );
  /** @type {ArrayLike<number>} */
  let shown = [];
  /** @type {string | undefined} */
  let equationName;
  /** @type {Box["draw"]} */
  const draw = (content) => {
    node.hidden = content === null;
    if (!content) return;
    write(heading, content.heading ?? say(`path_${name}`));
    if (content.equation !== equationName) {
      equationName = content.equation;
      formula.replaceChildren(...(equationName ? [equation(equationName)] : []));
    }
    shown = content.vector ?? [];
    large.hidden = shown.length === 0;
    if (shown.length) cells.draw(shown, heading.textContent ?? "", context.palette);
    write(text, content.text ?? "");
    write(shape, shown.length ? `(1, ${shown.length})` : "");
    write(cost, content.cost ? costText(say, content.cost) : "");
    assign(cost, "title", content.cost ? say("path_cost_title") : null);
  };
  return {
    element: node,
    draw,
    shown: () => (shown.length ? { vector: shown, name: heading.textContent ?? "" } : null),
  };
}

/**
 * @param {Say} say
 * @param {Cost} cost
 */
function costText(say, { parameters, products }) {
  const facts = { parameters: grouped(parameters), products: grouped(products) };
  return say(parameters ? "path_cost" : "path_cost_free", facts);
}

/**
 * A whole number with a thin space between its thousands.
 * @param {number} number
 */
export function grouped(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
