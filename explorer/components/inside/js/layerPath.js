import { element, write } from "../../shared/js/element.js";
import { grouped, KINDS } from "./box.js";
import { attentionCost } from "./costs.js";
import { createDetail } from "./detail.js";
import { INPUT_BOXES, inputContents } from "./inputPath.js";
import { OUTPUT_BOXES, outputContents } from "./outputPath.js";
import { createPath } from "./path.js";
import { createPositions } from "./positions.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadVectors } from "./arithmetic.js" */
/** @import { TokenPath } from "./tokenPath.js" */

/**
 * @typedef {"before" | "after"} PathPart of a layer: before the heads, or after them
 *
 * @typedef {object} LayerPath
 * @property {HTMLElement} element
 * @property {(part: PathPart, path: TokenPath, head: HeadVectors, cell: Cell) => void} draw
 */

/**
 * The path of the query through its layer: from its token to the heads, or from the heads to the
 * next token; one of its vectors large below.
 * @param {TraceContext} context
 * @returns {LayerPath}
 */
export function createLayerPath(context) {
  let enlarged = ""; // name of a box
  const enlarge = (/** @type {string} */ name) => {
    enlarged = enlarged === name ? "" : name;
    context.touch("vectors", "size");
  };
  const parts = {
    before: createPath(context, INPUT_BOXES, inputContents, enlarge),
    after: createPath(context, OUTPUT_BOXES, outputContents, enlarge),
  };
  const positions = createPositions(context);
  const detail = createDetail(context);
  const total = element("p", { class: "note total-cost", testid: "inside-total" });
  const node = element(
    "div",
    {},
    parts.before.element,
    parts.after.element,
    positions.element,
    detail.element,
    total,
  );
  /** @type {LayerPath["draw"]} */
  const draw = (part, path, head, cell) => {
    parts.before.element.hidden = part !== "before";
    parts.after.element.hidden = part !== "after";
    parts[part].draw(path, head, cell);
    const large = parts[part].shown(enlarged);
    const ofPositions = large !== null && enlarged === "positions";
    positions.element.hidden = !ofPositions;
    detail.element.hidden = !large || ofPositions;
    if (ofPositions) positions.show(allPositions(path), cell.query);
    else if (large) detail.show(large.vector, large.name, KINDS[enlarged]);
    write(total, totalText(context, path));
  };
  return { element: node, draw };
}

/** @param {TokenPath} path */
function allPositions(path) {
  return Array.from({ length: path.counts.queries }, (_, row) => path.vector("positions", row));
}

/**
 * @param {TraceContext} context
 * @param {TokenPath} path
 */
function totalText({ say, state }, { config, counts }) {
  const { queries, keys } = counts;
  const { parameters, products, growth } = attentionCost(config, state.site, queries, keys);
  return say("path_total", {
    parameters: grouped(parameters),
    products: grouped(products),
    queries,
    keys,
    growth: growth.toFixed(2),
  });
}
