const LARGEST_THUMBNAIL = 132;
const SMALLEST_THUMBNAIL = 26; // px of either side; a narrower one leaves no room for its name
const TIGHT_THUMBNAIL = 46; // px; below, a score leaves no room for the head's number
const THUMBNAIL_EDGE = 6; // what a frame adds around the picture
const SCORE_HEIGHT = 17;
const LAYER_LABEL = 22;
const MEAN_HEIGHT = 58; // px the name of a layer takes with the word under it
const GAP = 1;
const WORTH_A_LINE = 1.3; // a layer is broken into more lines only for this much larger pictures

/** All heads of the chosen attention at once, the selected one ringed. */
function createRail(context) {
  const { say } = context;
  const axes = element("div", { class: "mini-axes", title: say("mini_axes_title") });
  const grid = element("div", { class: "heads", testid: "heads", role: "group" });
  const node = element("section", { class: "rail", "aria-label": say("heads") }, axes, grid);
  let size = null;
  const update = (changed) => {
    const rebuilt = ["trace", "site", "size", "projector"].some((name) => changed.has(name));
    if (rebuilt) {
      const scored = context.state.site === "cross" && Boolean(context.trace.gold);
      write(axes, say(scored ? "mini_axes_gold" : "mini_axes"));
      size = buildRail(context, grid);
    }
    if (rebuilt || changed.has("scale") || changed.has("theme")) {
      paintThumbnails(context, grid, size);
    }
    if (rebuilt || changed.has("layer") || changed.has("head")) markSelected(context, grid);
    if (rebuilt || ["step", "ahead", "hover"].some((name) => changed.has(name))) {
      markMoment(context, grid);
    }
  };
  grid.addEventListener("keydown", (event) => moveSelection(context, grid, event));
  return { element: node, update };
}

/**
 * The largest thumbnail with which every head fits, {unit: pixels a cell, width,
 * height, columns: how many beside each other}.
 * @param {number} width @param {number} height room for all heads
 * @param {number} larger how many times the usual the type is
 */
function fitThumbnails(width, height, site, larger) {
  const longest = Math.max(site.queries, site.keys);
  const smallest = SMALLEST_THUMBNAIL * larger;
  const largest = Math.min(LARGEST_THUMBNAIL, Math.max(44, longest * 22));
  let best = { edge: 0, columns: 1 };
  for (let lines = 1; lines <= site.heads; lines += 1) {
    const columns = Math.ceil(site.heads / lines);
    const across = (width - LAYER_LABEL) / columns - THUMBNAIL_EDGE - GAP;
    const down = height / (lines * site.layers) - THUMBNAIL_EDGE - SCORE_HEIGHT * larger - 6;
    if (across < smallest) continue;
    const edge = Math.min(largest, (across * longest) / site.keys, (down * longest) / site.queries);
    if (edge > best.edge * WORTH_A_LINE) best = { edge, columns };
  }
  if (best.edge < smallest) {
    const most = Math.floor((width - LAYER_LABEL) / (smallest + THUMBNAIL_EDGE + GAP));
    const lines = Math.ceil(site.heads / Math.max(most, 1)); // and then the rail scrolls
    best = { edge: smallest, columns: Math.ceil(site.heads / lines) };
  }
  return { ...frameSize(best.edge, site, smallest), columns: best.columns };
}

/**
 * A thumbnail whose longer side is about `edge`, whole device pixels a cell where it can; a side
 * of fewer than `smallest` px is stretched.
 */
function frameSize(edge, site, smallest) {
  const dense = window.devicePixelRatio || 1;
  const exact = edge / Math.max(site.queries, site.keys);
  const unit = exact * dense >= 1 ? Math.floor(exact * dense) / dense : exact;
  return {
    unit,
    width: Math.max(Math.round(unit * site.keys * 100) / 100, smallest),
    height: Math.max(Math.round(unit * site.queries * 100) / 100, smallest),
  };
}

/** Lay the thumbnails out, layer by layer. */
function buildRail(context, grid) {
  const site = siteOf(context);
  const narrow = context.root.dataset.narrow !== undefined;
  const larger = context.state.projector ? 1.4 : 1;
  const size = narrow
    ? { ...frameSize(72, site, SMALLEST_THUMBNAIL), columns: site.heads }
    : fitThumbnails(grid.clientWidth - 2, grid.clientHeight - 2, site, larger);
  grid.style.setProperty("--thumb-width", `${size.width}px`);
  grid.style.setProperty("--thumb-height", `${size.height}px`);
  grid.style.setProperty("--columns", size.columns);
  grid.classList.toggle("tight", size.width < TIGHT_THUMBNAIL * larger);
  const lines = Math.ceil(site.heads / size.columns);
  grid.classList.toggle("low", lines * (size.height + SCORE_HEIGHT + THUMBNAIL_EDGE) < MEAN_HEIGHT);
  const layers = Array.from({ length: site.layers }, (_, layer) =>
    element(
      "div",
      { class: "layer" },
      layerName(context, site, layer),
      element(
        "div",
        { class: "layer-heads" },
        ...Array.from({ length: site.heads }, (_, head) => thumbnail(context, site, layer, head)),
      ),
    ),
  );
  grid.replaceChildren(...layers);
  return size;
}

/** The name of a layer; a click on it shows the mean of its heads. */
function layerName({ say, set }, site, layer) {
  if (site.heads === 1) {
    return element("span", { class: "layer-name", title: say("layer_title", { layer }) }, `L${layer}`);
  }
  return element(
    "button",
    {
      type: "button",
      class: "layer-name",
      testid: `mean-${layer}`,
      title: say("mean_title", { layer }),
      "aria-label": say("mean_title", { layer }),
      "data-head": `${layer}/${MEAN}`,
      on: { click: () => set({ layer, head: MEAN }) },
    },
    element("span", {}, `L${layer}`),
    element("span", { class: "mean-word" }, say("mean")),
  );
}

/** One head: its picture, what covers it, and its score. */
function thumbnail(context, site, layer, head) {
  const { say, trace } = context;
  const score = site.name === "cross" ? goldScore(trace, site, layer, head) : null;
  const name = headName(layer, head);
  const title = score === null ? name : say("gold_title", { head: name, score: score.toFixed(3) });
  const picture = element(
    "span",
    { class: "picture" },
    element("canvas", { "aria-hidden": "true" }),
    element("i", { class: "cover" }),
    element("i", { class: "tick" }),
    element("i", { class: "key-mark" }),
  );
  const point = (event) => hoverThumbnail(context, picture, event, layer, head);
  const frame = element(
    "button",
    {
      type: "button",
      class: "thumbnail",
      testid: `head-${layer}-${head}`,
      "data-head": `${layer}/${head}`,
      title,
      "aria-label": title,
      on: {
        click: () => context.set({ layer, head }),
        pointermove: point,
        pointerleave: (event) => leaveHover(context, event),
      },
    },
    picture,
    element("span", { class: "head-name" }, `H${head}`),
  );
  if (score !== null) {
    frame.append(element("span", { class: "score" }, shortWeight(score)));
  }
  return frame;
}

/** The cell of a thumbnail under the pointer. */
function hoverThumbnail(context, picture, event, layer, head) {
  const site = siteOf(context);
  const box = picture.getBoundingClientRect();
  const query = Math.floor(((event.clientY - box.top) / box.height) * site.queries);
  const key = Math.floor(((event.clientX - box.left) / box.width) * site.keys);
  const inside = query >= 0 && query < shownRows(context) && key >= 0 && key < site.keys;
  const cell = { query, key, layer, head, x: event.clientX, y: event.clientY };
  hoverOver(context, inside ? cell : null);
}

/** Draw every head's weights; not done on a step. */
function paintThumbnails(context, grid, size) {
  const { state, palette } = context;
  const site = siteOf(context);
  const dense = window.devicePixelRatio || 1;
  const small = size.unit * dense < 1;
  const rows = small ? Math.min(site.queries, Math.max(1, Math.round(size.height * dense))) : site.queries;
  const columns = small ? Math.min(site.keys, Math.max(1, Math.round(size.width * dense))) : site.keys;
  const scale = scaleOf(state, site);
  grid.querySelectorAll("canvas").forEach((canvas, place) => {
    const [layer, head] = [Math.floor(place / site.heads), place % site.heads];
    const tone = tones(site.weights(layer, head), site.keys, scale);
    const closed = site.closed(layer, head);
    paint(canvas, bitmap(palette, tone, closed, site.queries, site.keys, rows, columns));
  });
}

/** Ring the selected head; it alone is a stop of the Tab key. */
function markSelected({ state }, grid) {
  for (const frame of grid.querySelectorAll("[data-head]")) {
    const chosen = frame.dataset.head === `${state.layer}/${state.head}`;
    frame.classList.toggle("selected", chosen);
    assign(frame, "aria-pressed", chosen ? "true" : "false");
    frame.tabIndex = chosen ? 0 : -1;
    if (chosen) bringIntoView(grid, frame);
  }
}

/** Scroll the rail, and nothing but the rail, until a head is seen. */
function bringIntoView(grid, frame) {
  const [outer, inner] = [grid.getBoundingClientRect(), frame.getBoundingClientRect()];
  const beyond = (low, high, from, to) => Math.min(low - from, 0) + Math.max(high - to, 0);
  grid.scrollLeft += beyond(inner.left, inner.right, outer.left, outer.right);
  grid.scrollTop += beyond(inner.top, inner.bottom, outer.top, outer.bottom);
}

/** The current row and the hovered key in every thumbnail, by three numbers on their parent. */
function markMoment(context, grid) {
  const { state } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  grid.classList.toggle("stepping", row >= 0);
  grid.classList.toggle("covered", row >= 0 && !state.ahead && row + 1 < site.queries);
  grid.classList.toggle("keyed", Boolean(state.hover));
  grid.style.setProperty("--row", row / site.queries);
  grid.style.setProperty("--row-end", Math.min((row + 1) / site.queries, 1));
  grid.style.setProperty("--row-size", 1 / site.queries);
  grid.style.setProperty("--key", (state.hover?.key ?? 0) / site.keys);
  grid.style.setProperty("--key-size", 1 / site.keys);
}

/** ↑ and ↓ go to the head before and after; ← and → stay with the steps. */
function moveSelection(context, grid, event) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const { state } = context;
  const all = [...grid.querySelectorAll("[data-head]")]; // each layer's mean, then its heads
  const chosen = all.findIndex(({ dataset }) => dataset.head === `${state.layer}/${state.head}`);
  const next = all[chosen + by];
  if (!next) return;
  const [layer, head] = next.dataset.head.split("/").map(Number);
  context.set({ layer, head });
  next.focus();
}
