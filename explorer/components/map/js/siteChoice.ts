import { assign, type Part } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { SITES } from "../../trace/js/look.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** Which attention: Encoder, Decoder or Cross, those that there are. */
export function createSiteChoice(context: TraceContext): Part {
  const { say } = context;
  const group = { names: SITES, prefix: "site", label: "attention" };
  const radios = createRadios(say, group, (name) => context.act.chooseSite(name as SiteName));
  const draw = () => {
    radios.check(context.state.site);
    for (const [name, button] of Object.entries(radios.buttons)) {
      button.hidden = !context.trace.sites[name as SiteName];
      assign(button, "aria-disabled", button.hidden ? "true" : null);
      assign(button, "title", say(`site_${name}_title`));
    }
  };
  return { element: radios.element, views: [draw] };
}
