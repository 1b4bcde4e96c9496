import { element, type Part } from "../../dom/js/element.ts";
import { createEverythingSwitch, showEverything } from "../../page/js/everything.ts";
import { onPage } from "../../page/js/onPage.ts";
import { nameSpecials } from "./label.ts";
import { isSimple } from "./stepState.ts";
import type { TraceContext } from "./traceContext.ts";

/**
 * Follows the page's switch between Simple and Everything, which a link may turn, and has one of its
 * own where the page has none. The style sheet `simple.css` names what is hidden.
 */
export function createEverything(context: TraceContext): Part {
  const { root, say, signal, options } = context;
  let chosen = onPage.everything;
  nameSpecials(say);
  const follow = () => {
    if (onPage.everything !== chosen) context.set({ everything: onPage.everything });
    chosen = onPage.everything;
  };
  const own = options.alone ? [createEverythingSwitch(say, signal)] : [];
  const draw = () => {
    root.toggleAttribute("data-simple", isSimple(context));
    showEverything(context.state.everything);
  };
  return { element: element("span", { hidden: own.length === 0 }, ...own), views: [follow, draw] };
}
