import { assign, buttonElement, type Part } from "../../dom/js/element.ts";
import { giveSize, type TraceContext } from "../../trace/js/traceContext.ts";

/**
 * The button that shows and hides the controls and numbers that a first look does without; the style
 * sheet `more.css` names them. The page around the player reads from the document whether they show.
 */
export function createMoreButton(context: TraceContext): Part {
  const { say, root } = context;
  const toggle = () => {
    context.set({ more: !context.state.more });
    giveSize(context); // rows and numbers come or go
  };
  const button = buttonElement(
    toggle,
    { class: "quiet", testid: "more", title: say("more_title") },
    say("more"),
  );
  const draw = () => {
    const { more } = context.state;
    assign(button, "aria-expanded", String(more));
    for (const { dataset } of [root, document.documentElement]) dataset.more = String(more);
  };
  return { element: button, views: [draw] };
}
