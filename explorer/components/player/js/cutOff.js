import { element, write } from "../../shared/js/element.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * A note that the output was cut off at the length limit.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createCutOff(context) {
  const node = element("p", { class: "note", testid: "cut-off" });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!changed.has("trace")) return;
    const { header, steps, prompt } = context.pieces;
    node.hidden = header.facts.ended !== false || Boolean(header.facts.given);
    const count = steps - Math.max(prompt - 1, 0);
    write(node, node.hidden ? "" : context.say("cut_off", { count }));
  };
  return { element: node, update };
}
