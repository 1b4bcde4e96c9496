import { element, type Part, write } from "../../dom/js/element.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offers } from "../../trace/js/traceQuestions.ts";

/**
 * What of the model is not on screen: layers that were not captured, and heads whose weights an
 * exported page does not hold.
 */
export function createHeadsNote(context: TraceContext): Part {
  const node = element("p", { class: "heads-note", testid: "heads-note" });
  const draw = () => {
    const text = [layersNote(context), pageNote(context)].filter(Boolean).join(" ");
    node.hidden = !text;
    write(node, text);
  };
  return { element: node, views: [draw] };
}

/** Which layers of the model the trace has; "" where it has all. */
function layersNote(context: TraceContext) {
  const { name, numbers } = siteOf(context);
  const count = context.pieces.header.facts.model_layers?.[name] ?? numbers.length;
  if (count === numbers.length) return "";
  return context.say("layers_captured", { layers: rangesOf(numbers), count });
}

/** How many heads the page holds; "" where it holds all, and in the app. */
function pageNote({ pieces, options, say }: TraceContext) {
  const held = options.resources?.held;
  if (!held || !offers({ pieces }, "head")) return "";
  const heads = Object.values(pieces.header.sites).map(
    ({ shape: [layers, perLayer] }) => layers * perLayer,
  );
  const all = heads.reduce((sum, count) => sum + count, 0);
  const single = held.filter((name) => /^head\/pieces.*\d$/.test(name)).length;
  return single < all ? say("heads_in_page", { held: single, all }) : "";
}

/**
 * Numbers of layers, neighbours as a range: "L0–L3, L8".
 * @param numbers from the first on
 */
export function rangesOf(numbers: number[]) {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges
    .map(([first, last]) => (first === last ? `L${first}` : `L${first}–L${last}`))
    .join(", ");
}
