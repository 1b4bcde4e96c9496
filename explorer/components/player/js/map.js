const PLOT_CONFIG = { displayModeBar: false, doubleClick: false, responsive: false, showTips: false };

const CLICK_SLACK = 4; // px a pointer may move and still click

/** The large map: one head, cell by cell, with Plotly below and the moment drawn over it. */
function createMap(context) {
  const base = element("canvas", { class: "base" });
  const plot = element("div", { class: "plot" });
  const pattern = element("canvas", { class: "pattern" });
  const links = element("canvas", { class: "links", testid: "links" });
  const overlay = createOverlay(context);
  const axes = createAxes(context);
  const box = element(
    "div",
    { class: "map", role: "img", testid: "map" },
    base,
    plot,
    pattern,
    links,
    overlay.element,
    axes.element,
  );
  const notice = element("p", { class: "notice", testid: "map-notice", hidden: true });
  const heading = mapHeading(context, () => resetZoom(map));
  const legend = createLegend(context);
  const node = element(
    "section",
    { class: "map-panel", "aria-label": context.say("map") },
    heading.element,
    notice,
    box,
    legend.element,
  );
  const below = legend.element;
  const map = { context, below, box, base, plot, pattern, links, overlay, axes, notice, geometry: null };
  map.drawing = createDrawing(map);
  watchPointer(map);
  const update = (changed) => {
    heading.update(changed);
    legend.update(changed);
    updateMap(map, changed);
  };
  return { element: node, update, start: () => map.drawing.start(), destroy: () => map.drawing.stop() };
}

/** Redraw what the changes touch; a step touches the overlay only. */
function updateMap(map, changed) {
  const { context } = map;
  const has = (...names) => names.some((name) => changed.has(name));
  if (has("trace", "site", "size", "projector", "theme") || !map.geometry) {
    if (!measure(map)) return;
  }
  if (has("trace", "site", "layer", "head", "scale", "theme", "size", "projector")) {
    paintBase(map);
    paintPattern(map);
    assign(map.box, "aria-label", `${context.say("map")}: ${mapTitle(context)}`);
    map.drawing.request();
  }
  if (has("zoom")) paintPattern(map);
  if (has("trace", "site", "layer", "head", "alignment", "theme", "size", "projector", "zoom")) {
    drawLinks(context, map.links, map.geometry);
  }
  map.overlay.update(map.geometry);
  map.axes.update(map.geometry);
}

/** Read the room there is; false while there is none. */
function measure(map) {
  const { box, context } = map;
  const narrow = context.root.dataset.narrow !== undefined; // there the page scrolls
  const width = box.clientWidth;
  const height = narrow ? Math.max(300, Math.min(width, window.innerHeight * 0.62)) : box.clientHeight;
  if (width < 40 || height < 40) return false;
  const before = map.geometry;
  map.geometry = createGeometry(context, siteOf(context), width, height);
  const place = `${context.generation}/${context.state.site}`;
  if (before && map.place === place) Object.assign(map.geometry, { x: before.x, y: before.y });
  map.place = place;
  const { top } = map.geometry;
  const cells = Math.max(map.geometry.height, SMALLEST_AXIS);
  const slack = Math.max(height - top - cells - 6, 0);
  box.style.height = narrow ? `${height - slack}px` : "";
  map.below.style.transform = narrow ? "" : `translateY(${-slack}px)`; // close up to the cells
  return true;
}

/** The cells on a canvas: what is seen until Plotly has drawn them, and without it. */
function paintBase({ context, base, geometry }) {
  const { state, palette } = context;
  const site = siteOf(context);
  const tone = tones(site.weights(state.layer, state.head), site.keys, scaleOf(state, site));
  const closed = site.closed(state.layer, state.head);
  paint(base, bitmap(palette, tone, closed, site.queries, site.keys));
  rectangle(base, geometry.left, geometry.top, geometry.width, geometry.height);
}

/** The closed cells' pattern at the present zoom. */
function paintPattern({ context, pattern, geometry }) {
  const { state, palette } = context;
  const site = siteOf(context);
  const dense = window.devicePixelRatio || 1;
  pattern.width = Math.ceil(geometry.width * dense);
  pattern.height = Math.ceil(geometry.height * dense);
  rectangle(pattern, geometry.left, geometry.top, geometry.width, geometry.height);
  const pen = pattern.getContext("2d");
  pen.scale(dense, dense);
  drawPattern(pen, geometry, site, site.closed(state.layer, state.head), palette);
}

/** Plotly's part: at most one drawing under way, and after it only the latest wish. */
function createDrawing(map) {
  const { context, plot } = map;
  const own = { plotly: null, busy: false, wanted: false, stopped: false };
  const request = async () => {
    own.wanted = true;
    if (!own.plotly || own.busy || own.stopped || !map.geometry) return;
    own.busy = true;
    while (own.wanted && !own.stopped) {
      own.wanted = false;
      const { data, layout } = liveFigure(context, map.geometry);
      await own.plotly.react(plot, data, layout, PLOT_CONFIG);
      if (own.stopped) break;
      if (!map.listening) listenToPlot(map);
      followZoom(map);
    }
    own.busy = false;
  };
  const start = async () => {
    try {
      own.plotly = await context.options.plotly();
      context.plotly = own.plotly;
      await request();
      map.box.classList.add("plotted");
    } catch {
      map.notice.hidden = own.stopped;
      write(map.notice, context.say("no_plotly"));
    }
  };
  const stop = () => {
    own.stopped = true;
    if (own.plotly) own.plotly.purge(plot);
  };
  return { request, start, stop };
}

/** Follow Plotly's zoom; a double click shows everything again. */
function listenToPlot(map) {
  map.listening = true;
  map.plot.on("plotly_relayout", () => followZoom(map));
  map.plot.on("plotly_doubleclick", () => resetZoom(map));
}

/** Take the ranges Plotly shows. */
function followZoom(map) {
  const { geometry, plot, context } = map;
  const { xaxis, yaxis } = plot.layout;
  const y = [...yaxis.range].reverse();
  const same = [0, 1].every((end) => geometry.x[end] === xaxis.range[end] && geometry.y[end] === y[end]);
  if (same) return;
  Object.assign(geometry, { x: [...xaxis.range], y });
  const site = siteOf(context);
  const zoomed = geometry.x[1] - geometry.x[0] < site.keys || geometry.y[1] - geometry.y[0] < site.queries;
  context.set({ zoomed });
  context.touch("zoom");
}

/** Show every cell. */
function resetZoom(map) {
  const site = siteOf(map.context);
  map.context.plotly.relayout(map.plot, {
    "xaxis.range": [-0.5, site.keys - 0.5],
    "yaxis.range": [site.queries - 0.5, -0.5],
  });
}

/** Pointer over the map: hover a cell, click a row to go to its step. */
function watchPointer(map) {
  const { box, context } = map;
  const at = (event) => {
    const frame = box.getBoundingClientRect();
    return map.geometry && cellAt(map.geometry, event.clientX - frame.left, event.clientY - frame.top);
  };
  const hover = (event) => {
    const { layer, head } = context.state;
    const cell = at(event);
    const seen = cell && cell.query < shownRows(context);
    hoverOver(context, seen ? { ...cell, layer, head, x: event.clientX, y: event.clientY } : null);
  };
  let pressed = null;
  box.addEventListener("pointermove", hover);
  box.addEventListener("pointerleave", (event) => leaveHover(context, event));
  box.addEventListener("pointerdown", (event) => {
    pressed = { x: event.clientX, y: event.clientY };
    hover(event);
  }, true);
  window.addEventListener("pointerup", (event) => {
    const start = pressed;
    pressed = null;
    if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) > CLICK_SLACK) return;
    const cell = at(event);
    if (cell && cell.query < shownRows(context)) context.act.goTo(cell.query + 1);
  }, { signal: context.signal });
}

/** Above the map: which head this is, and ways to keep the picture. */
function mapHeading(context, showAll) {
  const { say, act } = context;
  const title = element("h3", { class: "map-title", testid: "map-title" });
  const button = (name) =>
    element(
      "button",
      {
        type: "button",
        class: "quiet save",
        testid: name,
        title: say(`${name}_title`),
        on: { click: () => act[name]() },
      },
      say(name),
    );
  const reset = element(
    "button",
    { type: "button", class: "quiet", testid: "reset-zoom", hidden: true, on: { click: showAll } },
    say("reset_zoom"),
  );
  const alignment = createAlignment(context);
  const pharaoh = button("pharaoh");
  const saves = [button("png"), button("svg"), button("csv"), pharaoh];
  const node = element("header", { class: "map-heading" }, title, reset, alignment.element, ...saves);
  const update = (changed) => {
    alignment.update(changed);
    pharaoh.hidden = context.state.site !== "cross" || context.state.alignment === "off";
    if (changed.has("zoomed")) reset.hidden = !context.state.zoomed;
    if (["trace", "site", "layer", "head"].some((name) => changed.has(name))) write(title, mapTitle(context));
  };
  return { element: node, update };
}
