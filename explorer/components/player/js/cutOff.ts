import { element, type Part, write } from "../../dom/js/element.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** A note that the output was cut off at the length limit. */
export function createCutOff(context: TraceContext): Part {
  const node = element("p", { class: "note", testid: "cut-off" });
  const draw = () => {
    const { header, steps, prompt } = context.pieces;
    node.hidden = header.facts.ended !== false || Boolean(header.facts.given);
    const count = steps - Math.max(prompt - 1, 0);
    write(node, node.hidden ? "" : context.say("cut_off", { count }));
  };
  return { element: node, views: [draw] };
}
