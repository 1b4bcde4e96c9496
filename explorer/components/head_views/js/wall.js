const LARGEST_PICTURE = 240; // px
const SMALLEST_PICTURE = 30;
const CAPTION = { tall: 36, short: 18 }; // px under a picture: name, number and role, or a number
const ROOM_FOR_ROLE = 74; // px a picture needs to have its role written under it
const LAYER_NAMES = 30; // px left of the pictures

/**
 * Every head of the site in one picture: layers down and heads across, or by a number.
 * @param {object|null} numbers field drawn in the place of the weights: (site) → field
 */
function createWall(context, frame, numbers) {
  const axes = element("div", { class: "wall-axes", testid: "wall-axes" });
  const grid = element("div", { class: "wall-grid", testid: "wall", role: "group", "aria-label": context.say("heads") });
  const node = element("section", { class: "wall" }, axes, grid);
  const card = createCard(context, frame);
  const own = { context, frame, numbers, grid, card, axes, pictures: new Map() };
  const laying = ["trace", "site", "size", "metric", "role", "sorted", "least", "parcel"];
  const update = (changed) => {
    const laid = laying.some((name) => changed.has(name));
    if (laid) layWall(own);
    if (["trace", "site", "size", "theme", "scale"].some((name) => changed.has(name))) paintWall(own);
    if (laid || ["layer", "head"].some((name) => changed.has(name))) markChosen(own);
  };
  grid.addEventListener("keydown", (event) => moveChosen(own, event));
  return { element: node, card, update };
}

/** The size of a picture with which all heads fit: {width, height, columns, tall}. */
function fitPictures({ grid, context }, count) {
  const site = siteOf(context);
  const { sorted, projector } = context.state;
  const larger = projector ? 1.5 : 1; // as the style sheet has it
  const narrow = context.root.dataset.narrow !== undefined;
  const width = grid.clientWidth - (sorted ? 0 : LAYER_NAMES) - 4;
  const height = narrow ? 520 : grid.clientHeight - (sorted ? 4 : 22);
  const longest = Math.max(site.queries, site.keys);
  let best = { edge: 0 };
  for (let columns = 1; columns <= (sorted ? count : site.heads); columns += 1) {
    if (!sorted && columns !== site.heads) continue; // a layer is a row
    const rows = sorted ? Math.ceil(count / columns) : site.layers;
    const across = width / columns - 10;
    const tall = across >= ROOM_FOR_ROLE;
    const down = height / rows - CAPTION[tall ? "tall" : "short"] * larger - 8;
    const edge = Math.min(LARGEST_PICTURE, (across * longest) / site.keys, (down * longest) / site.queries);
    if (edge > best.edge) best = { edge, columns, tall, across };
  }
  const edge = Math.max(best.edge, SMALLEST_PICTURE);
  const size = frameSize(edge, site, SMALLEST_THUMBNAIL);
  return { ...size, columns: best.columns ?? site.heads, tall: best.tall ?? false, slot: best.across ?? size.width };
}

/** Put every head in its place. Elements are kept: another order moves them. */
function layWall(own) {
  const { context, frame, grid, axes, pictures } = own;
  const heads = shownHeads(context, frame);
  const shown = context.state.sorted ? heads.filter((one) => one.passes) : heads;
  own.size = fitPictures(own, Math.max(shown.length, 1));
  const { width, height, columns, tall, slot } = own.size;
  const { style } = grid;
  style.setProperty("--picture-width", `${width}px`);
  style.setProperty("--picture-height", `${height}px`);
  style.setProperty("--slot", `${Math.max(slot, width + 6)}px`);
  const row = `repeat(${columns}, minmax(calc(var(--picture-width) + 6px), max-content))`;
  style.gridTemplateColumns = context.state.sorted ? row : `${LAYER_NAMES}px ${row}`;
  grid.classList.toggle("tall", tall);
  write(axes, frame.say(context.state.sorted ? "axes_sorted" : "axes_natural"));
  const nodes = shown.map((one) => captioned(own, one, pictureOf(own, one)));
  grid.replaceChildren(...(context.state.sorted ? nodes : withNames(context, nodes)));
  if (!shown.length) grid.replaceChildren(element("p", { class: "nothing" }, frame.say("no_head_passes")));
  for (const place of pictures.keys()) if (place >= heads.length) pictures.delete(place);
}

/** The names of the heads above, and of each layer before its row. */
function withNames(context, nodes) {
  const site = siteOf(context);
  const name = (kind, text, title) => element("span", { class: `${kind}-name`, title }, text);
  const across = Array.from({ length: site.heads }, (_, head) => name("column", `H${head}`));
  const rows = Array.from({ length: site.layers }, (_, layer) => [
    name("row", `L${layer}`, context.say("layer_title", { layer })),
    ...nodes.slice(layer * site.heads, (layer + 1) * site.heads),
  ]);
  return [name("corner", ""), ...across, ...rows.flat()];
}

/** The element of one head, made once. */
function pictureOf({ context, pictures, card }, { place, layer, head }) {
  if (pictures.has(place)) return pictures.get(place);
  const node = element(
    "button",
    {
      type: "button",
      class: "picture-frame",
      testid: `head-${layer}-${head}`,
      on: {
        click: () => context.set({ layer, head }),
        pointermove: (event) => card.show(event, { layer, head }),
        pointerleave: () => card.hide(),
      },
    },
    element("canvas", { "aria-hidden": "true" }),
    element("span", { class: "caption" }, element("b"), element("span", { class: "number" })),
    element("span", { class: "role" }),
  );
  pictures.set(place, node);
  return node;
}

/** Name, number and role under a head; faint when it does not pass the filter. */
function captioned({ context, frame }, { layer, head, found, number, passes }, node) {
  const [, caption, role] = node.children;
  const words = rolesInWords(frame, found);
  write(caption.firstChild, headName(layer, head));
  write(caption.lastChild, number === null ? "" : shortNumber(number));
  write(role, words);
  role.classList.toggle("none", found?.roles.length === 0);
  node.classList.toggle("faint", !passes);
  assign(node, "aria-label", [headName(layer, head), words].filter(Boolean).join(frame.say("colon")));
  return node;
}

/** Draw every head's weights, or the numbers in their place. */
function paintWall(own) {
  const { context, pictures, size, numbers } = own;
  const site = siteOf(context);
  const dense = window.devicePixelRatio || 1;
  const small = size.unit * dense < 1;
  const rows = small ? Math.min(site.queries, Math.max(1, Math.round(size.height * dense))) : site.queries;
  const columns = small ? Math.min(site.keys, Math.max(1, Math.round(size.width * dense))) : site.keys;
  const field = numbers?.(site);
  for (const [place, node] of pictures) {
    const [layer, head] = [Math.floor(place / site.heads), place % site.heads];
    if (layer >= site.layers) continue;
    const tone = field
      ? field.of(layer, head).map((value) => value / (field.largest || 1))
      : tones(site.weights(layer, head), site.keys, scaleOf(context.state, site));
    const picture = bitmap(context.palette, tone, site.closed(layer, head), site.queries, site.keys, rows, columns);
    paint(node.firstChild, picture);
  }
}

/** Ring the chosen head; it alone is a stop of the Tab key. */
function markChosen({ context, pictures }) {
  const { layer, head } = context.state;
  const chosen = layer * siteOf(context).heads + head;
  for (const [place, node] of pictures) {
    node.classList.toggle("selected", place === chosen);
    assign(node, "aria-pressed", place === chosen ? "true" : "false");
    node.tabIndex = place === chosen ? 0 : -1;
  }
}

/** ↑ and ↓ go to the head before and after on the wall; ← and → stay with the steps. */
function moveChosen({ context, grid, frame }, event) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const { state } = context;
  const heads = shownHeads(context, frame).filter((one) => one.passes || !state.sorted);
  const now = heads.findIndex((one) => one.layer === state.layer && one.head === state.head);
  const next = heads[now + by];
  if (!next) return;
  context.set({ layer: next.layer, head: next.head });
  grid.querySelector(`[data-testid="head-${next.layer}-${next.head}"]`)?.focus();
}
