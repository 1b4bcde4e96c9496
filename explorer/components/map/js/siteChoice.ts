import { assign, type Part } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { SITES } from "../../trace/js/look.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** Which attention: Encoder, Decoder or Cross. */
export function createSiteChoice(context: TraceContext): Part {
  const { say } = context;
  const group = { names: SITES, prefix: "site", label: "attention" };
  const radios = createRadios(say, group, (name) => context.act.chooseSite(name as SiteName));
  const draw = () => {
    radios.check(context.state.site);
    for (const [name, button] of Object.entries(radios.buttons)) {
      const site = context.trace.sites[name as SiteName];
      assign(button, "aria-disabled", site ? null : "true");
      assign(button, "data-idle", site ? null : "");
      assign(button, "title", say(site ? `site_${name}_title` : "no_site"));
    }
  };
  return { element: radios.element, views: [draw] };
}
