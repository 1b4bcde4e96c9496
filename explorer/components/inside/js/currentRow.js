import { assign, element, populate, write } from "../../shared/js/element.js";
import { labelOf, writeToken } from "../../shared/js/label.js";
import { ASKED } from "../../shared/js/lessonEvents.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { isAsked, shownKeys, siteOf } from "../../shared/js/stepState.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const LEAST_SHOWN = 0.005; // a smaller weight is a dot, as in the map
const STRONG = 0.6; // from here on a dark colour, on which the number is light

/**
 * @typedef {object} CurrentRow the map's row beside the calculation, which the map may be too far
 *   above to be seen with
 * @property {HTMLElement} element
 * @property {(weights: number[], masked: ArrayLike<number>, cell: Cell) => void} draw
 */

/**
 * @param {TraceContext} context
 * @returns {CurrentRow}
 */
export function createCurrentRow(context) {
  const query = element("bdi", { class: "token", testid: "inside-query" });
  const keys = element("ol", { class: "row-keys" });
  const node = element(
    "div",
    { class: "inside-row", role: "group", testid: "inside-row" },
    query,
    keys,
  );
  const makeKey = (/** @type {number} */ key) =>
    element("li", {}, element("button", { type: "button", on: { click: () => choose(key) } }));
  /** @param {number} key */
  const choose = (key) => {
    const { inside } = context.state;
    if (inside) context.set({ inside: { query: inside.query, key } });
  };
  /** @type {CurrentRow["draw"]} */
  const draw = (weights, masked, cell) => {
    const { queryTokens, keyTokens } = siteOf(context);
    assign(node, "aria-label", context.say("inside_row"));
    writeToken(query, queryTokens[cell.query]);
    const shown = Math.max(shownKeys(context), cell.key + 1); // later tokens may be guessed
    populate(keys, shown, makeKey).forEach((item, key) => {
      const button = /** @type {HTMLElement} */ (item.firstElementChild);
      const number = isAsked(context, "weight", { query: cell.query, key })
        ? ASKED
        : printed(weights[key]);
      drawKey(button, keyTokens[key], weights[key], masked[key] ? "" : number);
      assign(/** @type {Element} */ (button.lastElementChild), "data-masked", masked[key] || null);
      assign(button, "aria-pressed", key === cell.key ? "true" : "false");
    });
    requestAnimationFrame(() => centre(keys, cell.key)); // measured after the layout
  };
  return { element: node, draw };
}

/** @param {number} weight */
function printed(weight) {
  return weight < LEAST_SHOWN ? "·" : shortWeight(weight);
}

/**
 * @param {HTMLElement} button
 * @param {string} token
 * @param {number} weight
 * @param {string} text of its weight
 */
function drawKey(button, token, weight, text) {
  const [name, number] = populate(button, 2, (part) =>
    element("span", { class: part ? "cell" : "token" }),
  );
  writeToken(name, token);
  write(number, text);
  number.classList.toggle("strong", weight > STRONG);
  number.style.setProperty("--share", String(weight));
  assign(button, "title", labelOf(token)); // a long one is cut
}

/**
 * Scroll a row that is wider than the panel to one of its keys.
 * @param {HTMLElement} keys
 * @param {number} key
 */
function centre(keys, key) {
  const item = keys.children[key];
  if (item instanceof HTMLElement)
    keys.scrollLeft = item.offsetLeft - (keys.clientWidth - item.offsetWidth) / 2;
}
