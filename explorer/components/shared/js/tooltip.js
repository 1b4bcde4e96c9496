import { element } from "./element.js";
import { visibleRows } from "./guess.js";
import { labelOf } from "./label.js";
import { isHeld, shownKeys, shownName, siteOf, weightAt } from "./stepState.js";
import { anyOf } from "./store.js";

/** @import { Part } from "./element.js" */
/** @import { Hover } from "./openingState.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * The hover text of a cell: weight, reason of a mask, query, key and head.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createTooltip(context) {
  const node = element("div", { class: "tooltip", role: "tooltip", testid: "tooltip" });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "hover", "step", "ahead", "guess", "inside")) return;
    const { hover } = context.state;
    node.hidden = true;
    if (!hover || hover.query === null || hover.key === null || hover.query >= visibleRows(context))
      return;
    node.hidden = false;
    const lines = tooltipLines(context, hover, hover.query, hover.key);
    if (opensInside(context, hover)) lines.push(context.say("hover_again"));
    node.replaceChildren(...lines.map((line) => element("div", {}, line)));
    positionTooltip(context.root, node, hover);
  };
  /** @param {PointerEvent} event */
  const release = ({ pointerType }) => {
    if (pointerType === "touch") setHover(context, null);
  };
  for (const event of /** @type {const} */ (["pointerdown", "pointercancel"])) {
    document.addEventListener(event, release, { capture: true, signal: context.signal });
  }
  return { element: node, update };
}

/**
 * The lines of the tooltip.
 * @param {TraceContext} context
 * @param {Hover} hover
 * @param {number} query
 * @param {number} key
 */
function tooltipLines(context, { layer, head }, query, key) {
  const { say } = context;
  const site = siteOf(context);
  /** @type {(tokens: string[], position: number, shown: number) => string} */
  const name = (tokens, position, shown) => (position < shown ? labelOf(tokens[position]) : "·");
  return [
    weightLine(context, layer, head, query, key),
    say("hover_query", { token: name(site.queryTokens, query, site.queries), position: query + 1 }),
    say("hover_key", { token: name(site.keyTokens, key, shownKeys(context)), position: key + 1 }),
    `${say(`site_${site.name}`)} · ${shownName(context, layer, head)}`,
  ];
}

/**
 * Whether another touch of the cell opens the panel that shows how its weight is computed; where
 * there is more space the first one does.
 * @param {TraceContext} context
 * @param {Hover} hover
 */
function opensInside({ pieces, root, state }, { layer, head }) {
  const offered = pieces.header.inside !== undefined && root.dataset.narrow !== undefined;
  return offered && state.inside === null && state.layer === layer && state.head === head;
}

/**
 * The weight of a cell and why it is masked; of a head of a large trace only once it was chosen.
 * @param {TraceContext} context
 * @param {number} layer
 * @param {number} head
 * @param {number} query
 * @param {number} key
 */
function weightLine(context, layer, head, query, key) {
  const { say, trace } = context;
  const site = siteOf(context);
  if (!site.has(layer, head))
    return say(isHeld(context, layer, head) ? "hover_choose" : "not_in_page");
  const code = site.masked(layer, head)[query * site.keys + key];
  const weight = weightAt(site, layer, head, query, key).toFixed(4);
  const reason = say(`reason_${trace.header.reasons[code].replaceAll(" ", "_")}`);
  return code ? say("hover_closed", { weight, reason }) : say("hover_weight", { weight });
}

/**
 * Place a tooltip beside the pointer, on the side that has space.
 * @param {HTMLElement} root
 * @param {HTMLElement} node
 * @param {{x: number, y: number}} pointer in the viewport
 */
export function positionTooltip(root, node, { x, y }) {
  const frame = root.getBoundingClientRect();
  const [left, top] = [x - frame.left, y - frame.top];
  const [right, below] = [left < frame.width - 260, top < frame.height - 120];
  node.style.transform =
    `translate(${Math.round(left)}px, ${Math.round(top)}px) ` +
    `translate(${right ? "14px" : "calc(-100% - 10px)"}, ${below ? "16px" : "calc(-100% - 10px)"})`;
}

/**
 * End the hover when the pointer leaves; after a touch it stays until the next one.
 * @param {TraceContext} context
 * @param {PointerEvent} event
 */
export function clearHover(context, { pointerType }) {
  if (pointerType !== "touch") setHover(context, null);
}

/**
 * Hover another cell, or with null none; nothing changes within one cell.
 * @param {TraceContext} context
 * @param {Hover | null} next
 */
export function setHover(context, next) {
  const now = context.state.hover;
  const names = /** @type {const} */ (["query", "key", "layer", "head"]);
  if (now === next || (now && next && names.every((name) => now[name] === next[name]))) return;
  context.set({ hover: next });
}
