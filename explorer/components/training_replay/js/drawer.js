/** What only some want to know, behind a closed door. */
function createDrawer(context) {
  const columns = () => {
    const width = context.root.clientWidth;
    return width >= 1100 ? MORE_PANELS.length : width >= 700 ? 3 : 1;
  };
  const curves = createCurves(context, MORE_PANELS, columns, "more-curves");
  const log = element("pre", { class: "log", testid: "log", title: context.say("log_title") });
  const node = element(
    "details",
    { class: "drawer", testid: "drawer", on: { toggle: () => context.touch("open") } },
    element("summary", {}, context.say("more")),
    curves.element,
    element("div", { class: "log-name" }, context.say("log")),
    log,
  );
  const update = (changed) => {
    if (!node.open) return;
    curves.element.style.setProperty("--rows", Math.ceil(MORE_PANELS.length / columns()));
    curves.update(changed);
    write(log, context.reel.log.join("\n") || context.say("no_log"));
  };
  return { element: node, update, destroy: curves.destroy };
}
