import { assign } from "./element.js";
import { SITES } from "./look.js";
import { createRadios } from "./radios.js";
import { anyOf } from "./store.js";

/** @import { Part } from "./element.js" */
/** @import { SiteName } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * Which attention: Encoder, Decoder or Cross.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createSiteChoice(context) {
  const { say } = context;
  const group = { names: SITES, prefix: "site", label: "attention" };
  const radios = createRadios(say, group, (name) =>
    context.act.chooseSite(/** @type {SiteName} */ (name)),
  );
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "site", "trace")) return;
    radios.check(context.state.site);
    for (const [name, button] of Object.entries(radios.buttons)) {
      const site = context.trace.sites[/** @type {SiteName} */ (name)];
      assign(button, "aria-disabled", site ? null : "true");
      assign(button, "title", say(site ? `site_${name}_title` : "no_site"));
    }
  };
  return { element: radios.element, update };
}
