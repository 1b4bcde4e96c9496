import { element, write } from "../../dom/js/element.ts";
import { createStore } from "../../dom/js/store.ts";
import { isAsked } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import { grouped, KINDS } from "./box.ts";
import { attentionCost } from "./costs.ts";
import { createDetail } from "./detail.ts";
import { INPUT_BOXES, inputContents } from "./inputPath.ts";
import { OUTPUT_BOXES, outputContents } from "./outputPath.ts";
import { createPath } from "./path.ts";
import { createPositions } from "./positions.ts";
import type { TokenPath } from "./tokenPath.ts";

/** By box, the answers of a lesson that its numbers would tell. */
const TOLD: Record<string, string> = {
  normed: "normed length",
  result: "number after",
  hidden: "active numbers",
};

type PathPart = "before" | "after"; // of a layer: before the heads, or after them

/**
 * The path of the query through its layer: from its token to the heads, or from the heads to the
 * next token; one of its vectors large below.
 */
export function createLayerPath(context: TraceContext) {
  const chosen = createStore({ enlarged: "" }); // name of a box
  const enlarge = (name: string) =>
    chosen.set({ enlarged: chosen.values.enlarged === name ? "" : name });
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
  const draw = (part: PathPart, path: TokenPath, head: HeadVectors, cell: Cell) => {
    parts.before.element.hidden = part !== "before";
    parts.after.element.hidden = part !== "after";
    parts[part].draw(path, head, cell);
    const { enlarged } = chosen.values;
    const asked = isAsked(context, TOLD[enlarged], cell);
    const large = asked ? null : parts[part].shown(enlarged);
    const ofPositions = large !== null && enlarged === "positions";
    positions.element.hidden = !ofPositions;
    detail.element.hidden = !large || ofPositions;
    if (ofPositions) positions.show(allPositions(path), cell.query);
    else if (large) detail.show(large.vector, large.name, KINDS[enlarged]);
    const text = totalText(context, path);
    total.hidden = text === "";
    write(total, text);
  };
  return { element: node, draw };
}

function allPositions(path: TokenPath) {
  return Array.from({ length: path.counts.queries }, (_, row) => path.vector("positions", row));
}

/** @returns "" of a model of the library */
function totalText({ say, state }: TraceContext, { sizes, counts }: TokenPath) {
  if (!sizes) return "";
  const { queries, keys } = counts;
  const { parameters, products, growth } = attentionCost(sizes, state.site, queries, keys);
  return say("path_total", {
    parameters: grouped(parameters),
    products: grouped(products),
    queries,
    keys,
    growth: growth.toFixed(2),
  });
}
