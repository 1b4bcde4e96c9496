import { assign, element } from "../../shared/js/element.js";
import { anyOf } from "../../shared/js/store.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * The button that shows and hides the controls and numbers that a first look does without; the style
 * sheet `more.css` names them. The page around the player reads from the document whether they show.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createMoreButton(context) {
  const { say, root } = context;
  const toggle = () => {
    context.set({ more: !context.state.more });
    context.touch("size"); // rows and numbers come or go
  };
  const button = element(
    "button",
    {
      type: "button",
      class: "quiet",
      testid: "more",
      title: say("more_title"),
      on: { click: toggle },
    },
    say("more"),
  );
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "trace", "more")) return;
    const { more } = context.state;
    assign(button, "aria-expanded", String(more));
    for (const { dataset } of [root, document.documentElement]) dataset.more = String(more);
  };
  return { element: button, update };
}
