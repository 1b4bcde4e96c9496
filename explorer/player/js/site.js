/** Which attention: Encoder, Decoder or Cross. */
function createSiteChoice(context) {
  const { say } = context;
  const buttons = Object.fromEntries(
    ["encoder", "decoder", "cross"].map((name) => [
      name,
      element(
        "button",
        {
          type: "button",
          role: "radio",
          testid: `site-${name}`,
          title: say(`site_${name}_title`),
          on: { click: () => context.act.chooseSite(name) },
        },
        say(`site_${name}`),
      ),
    ]),
  );
  const node = element(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": say("attention") },
    ...Object.values(buttons),
  );
  const update = (changed) => {
    if (!changed.has("site") && !changed.has("trace")) return;
    for (const [name, button] of Object.entries(buttons)) {
      assign(button, "aria-checked", context.state.site === name ? "true" : "false");
      assign(button, "aria-disabled", context.trace.sites[name] ? null : "true");
      assign(button, "title", say(context.trace.sites[name] ? `site_${name}_title` : "no_site"));
    }
  };
  return { element: node, update };
}
