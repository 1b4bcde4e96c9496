/** Which of the two outputs is longer has the transport; another one is a room built anew. */
function kindOf(parcel) {
  const [original, changed] = ["original", "changed"].map((name) => readPayload(parcel.part(name)).steps);
  return changed > original ? "changed" : "original";
}

/** With and without: two traces whose steps are locked, and their difference. */
function openRoom(root, parcel, options) {
  const frame = createFrame(root, parcel, options);
  const original = createStand(frame, parcel.part("original"));
  const changed = createStand(frame, parcel.part("changed"));
  scaleTogether(original.trace, changed.trace);
  const longer = kindOf(parcel) === "changed" ? changed : original;
  lockTogether(original, changed);
  original.report = createReport(original);
  original.watchers.push(original.report);
  const sides = twinParts(frame, original, changed, longer);
  for (const [context, parts] of [[original, sides.original], [changed, sides.changed]]) {
    openStand(context, parts, parts.filter((part) => part.start));
    telling(context, parts.find((part) => part.start), frame);
  }
  watchFrame(frame, () => {
    original.touch("size");
    changed.touch("size");
  });
  listenToKeys(longer);
  return {
    listen: (next) => {
      Object.assign(frame.options, next);
      for (const context of [original, changed]) Object.assign(context.options, next);
    },
    update: (next) => {
      frame.parcel = next;
      updateStand(original, next.part("original"));
      updateStand(changed, next.part("changed"));
      scaleTogether(original.trace, changed.trace); // before anything is drawn, on the next frame
    },
    destroy: () => {
      closeStand(original, sides.original.filter((part) => part.start));
      closeStand(changed, sides.changed.filter((part) => part.start));
      frame.destroy();
    },
  };
}

/** Both sides of a site have one colour scale, that of the longer row, whatever their lengths. */
function scaleTogether(original, changed) {
  for (const [name, site] of Object.entries(original.sites)) {
    const other = changed.sites[name];
    if (other) site.widest = other.widest = Math.max(site.keys, other.keys);
  }
}

/** Make every part and put it in its place. */
function twinParts(frame, original, changed, longer) {
  const site = createSiteChoice(original);
  const rail = createRail(original);
  const transport = createTransport(longer);
  const outputs = createOutputs(frame, original, changed);
  const maps = [createMap(original), createMap(changed)];
  const read = (place) => frame.parcel.field("difference", place);
  const difference = createFieldMap(original, frame, { name: "difference", read, signed: true });
  const integrity = createIntegrity(changed);
  const tooltips = [createTooltip(original), createTooltip(changed)];
  rail.element.prepend(site.element);
  const column = (name, part) =>
    element("section", { class: "twin-side", testid: `twin-${name}` }, element("h3", {}, frame.say(`twin_${name}`)), part.element);
  const columns = [column("original", maps[0]), column("changed", maps[1]), column("difference", difference)];
  const top = element("div", { class: "twin-top" }, transport.element, outputs.element);
  const body = element("div", { class: "twin-body" }, rail.element, ...columns);
  frame.root.append(top, body, integrity.element, ...tooltips.map((part) => part.element));
  const parts = { original: [site, rail, maps[0], difference, tooltips[0]], changed: [outputs, maps[1], integrity, tooltips[1]] };
  (longer === changed ? parts.changed : parts.original).push(transport);
  return parts;
}

/** A click on a cell of a map goes to its step and names the cell to the app, for an edit there. */
function telling(context, map, frame) {
  let pressed = null; // Plotly covers the map while the pointer is down, and then nothing is hovered
  const note = () => {
    pressed = context.state.hover;
  };
  map.element.querySelector(".map").addEventListener("pointerdown", note, true);
  const { goTo } = context.act;
  context.act.goTo = (step, patch) => {
    goTo(step, patch);
    if (pressed?.query === step - 1) {
      const { site, layer, head } = context.state;
      frame.options.onCell?.({ site, layer, head, query: pressed.query, key: pressed.key });
    }
    pressed = null;
  };
}
