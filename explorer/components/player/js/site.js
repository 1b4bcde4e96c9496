/** Which attention: Encoder, Decoder or Cross. */
function createSiteChoice(context) {
  const { say } = context;
  const words = { names: ["encoder", "decoder", "cross"], prefix: "site", label: "attention" };
  const radios = createRadios(context, words, (name) => context.act.chooseSite(name));
  const update = (changed) => {
    if (!changed.has("site") && !changed.has("trace")) return;
    radios.check(context.state.site);
    for (const [name, button] of Object.entries(radios.buttons)) {
      assign(button, "aria-disabled", context.trace.sites[name] ? null : "true");
      assign(button, "title", say(context.trace.sites[name] ? `site_${name}_title` : "no_site"));
    }
  };
  return { element: radios.element, update };
}
