/** Weights alone or norms beside them: another kind is a room built anew. */
function kindOf({ parts }) {
  return Object.keys(parts).some((name) => name.startsWith("norms.")) ? "norms" : "weights";
}

/** The overview: every head on the left, the chosen one at full size on the right. */
function openRoom(root, parcel, options) {
  const frame = createFrame(root, parcel, options);
  const more = { metric: "", role: "", sorted: false, least: 0 };
  const context = createStand(frame, parcel.part("trace"), more);
  context.report = createReport(context);
  context.watchers.push(context.report);
  const normed = (site) => frame.parcel.field("norms", site);
  const parts = overviewParts(context, frame, kindOf(parcel) === "norms" ? normed : null);
  openStand(context, parts.all, [parts.map]);
  watchFrame(frame, () => context.touch("size"));
  listenToKeys(context);
  return {
    listen: (next) => Object.assign(context.options, next),
    update: (next) => {
      frame.parcel = next;
      updateStand(context, next.part("trace"));
      context.touch("parcel", "size");
    },
    destroy: () => {
      closeStand(context, [parts.map]);
      frame.destroy();
    },
  };
}

/** Make every part and put it in its place. */
function overviewParts(context, frame, numbers) {
  const site = createSiteChoice(context);
  const order = createOrder(context, frame);
  const wall = createWall(context, frame, numbers);
  const map = createMap(context);
  const sentence = createSentence(context);
  const transport = createTransport(context);
  const verdict = createVerdict(context, frame);
  const tooltip = createTooltip(context);
  const tools = element("div", { class: "tools" }, site.element, order.element);
  const norms = numbers && createFieldMap(context, frame, { name: "norms", read: numbers, signed: false });
  const maps = element("div", { class: "maps" }, map.element, ...(norms ? [norms.element] : []));
  const focus = element("div", { class: "focus" }, verdict.element, sentence.element, transport.element, maps);
  const body = element("div", { class: norms ? "hall with-norms" : "hall" }, wall.element, focus);
  frame.root.append(tools, body, tooltip.element, wall.card.element);
  return { all: [site, order, wall, verdict, transport, map, ...(norms ? [norms] : []), sentence, tooltip], map };
}

/** The chosen head's roles, over its map. */
function createVerdict(context, frame) {
  const node = element("p", { class: "verdict", testid: "verdict" });
  const update = (changed) => {
    if (!["trace", "site", "layer", "head", "parcel"].some((name) => changed.has(name))) return;
    const { site, layer, head } = context.state;
    const found = foundOf(frame, { site, layer, head });
    const facts = { site: context.say(`site_${site}`), head: headName(layer, head), roles: rolesInWords(frame, found) };
    write(node, frame.say(found ? "verdict" : "verdict_unmeasured", facts));
  };
  return { element: node, update };
}
