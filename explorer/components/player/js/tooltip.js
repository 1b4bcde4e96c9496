/** The one tooltip: what the cell under the pointer says, in words and four digits. */
function createTooltip(context) {
  const node = element("div", { class: "tooltip", role: "tooltip", testid: "tooltip" });
  const update = (changed) => {
    if (!changed.has("hover") && !changed.has("step") && !changed.has("ahead")) return;
    const { hover } = context.state;
    node.hidden = !hover || hover.query === null || hover.query >= shownRows(context);
    if (node.hidden) return;
    node.replaceChildren(...tooltipLines(context, hover).map((line) => element("div", {}, line)));
    placeTooltip(context.root, node, hover);
  };
  const anew = ({ pointerType }) => pointerType === "touch" && hoverOver(context, null);
  for (const event of ["pointerdown", "pointercancel"]) {
    document.addEventListener(event, anew, { capture: true, signal: context.signal });
  }
  return { element: node, update };
}

/** The lines of the tooltip over one cell. */
function tooltipLines(context, { query, key, layer, head }) {
  const { say, trace } = context;
  const site = siteOf(context);
  const code = site.closed(layer, head)[query * site.keys + key];
  const weight = weightAt(site, layer, head, query, key).toFixed(4);
  const reason = say(`reason_${trace.header.reasons[code].replace(" ", "_")}`);
  const name = (tokens, place, shown) => (place < shown ? labelOf(tokens[place]) : "·");
  return [
    code ? say("hover_closed", { weight, reason }) : say("hover_weight", { weight }),
    say("hover_query", { token: name(site.queryTokens, query, site.queries), position: query }),
    say("hover_key", { token: name(site.keyTokens, key, shownKeys(context)), position: key }),
    `${say(`site_${site.name}`)} · ${shownName(context, layer, head)}`,
  ];
}

/** Beside the pointer, on whichever side there is room. */
function placeTooltip(root, node, { x, y }) {
  const frame = root.getBoundingClientRect();
  const [left, top] = [x - frame.left, y - frame.top];
  const [right, below] = [left < frame.width - 260, top < frame.height - 120];
  node.style.transform =
    `translate(${Math.round(left)}px, ${Math.round(top)}px) ` +
    `translate(${right ? "14px" : "calc(-100% - 10px)"}, ${below ? "16px" : "calc(-100% - 10px)"})`;
}

/** The pointer left; a finger only lifts, and what it pointed at stays until the next tap. */
function leaveHover(context, { pointerType }) {
  if (pointerType !== "touch") hoverOver(context, null);
}

/** Move the hover to a cell, or with null away; nothing happens within one cell. */
function hoverOver(context, next) {
  const now = context.state.hover;
  const same =
    now === next ||
    (now && next && ["query", "key", "layer", "head"].every((name) => now[name] === next[name]));
  if (!same) context.set({ hover: next });
}
