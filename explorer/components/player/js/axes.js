/** The tokens along the map: queries left, keys on top, predictions right. */
function createAxes(context) {
  const { say } = context;
  const keyTitle = element("span", { class: "axis-title", title: say("axis_key_title") }, say("axis_key"));
  const queryTitle = element(
    "span",
    { class: "axis-title upright", title: say("axis_query_title") },
    say("axis_query").slice(0, -1),
    element("span", { class: "arrow" }, say("axis_query").slice(-1)), // upright in upright text
  );
  const predictTitle = element("span", { class: "axis-title", title: say("predicts_title") }, say("predicts"));
  const node = element("div", { class: "axes", "aria-hidden": "true" }, keyTitle, queryTitle, predictTitle);
  const kept = { query: new Map(), key: new Map(), predicted: new Map() };
  const update = (geometry) => {
    const end = geometry.left + geometry.width;
    keyTitle.style.transform = `translate(${geometry.left}px, 0)`;
    queryTitle.style.transform = `translate(0, ${geometry.top}px)`;
    queryTitle.style.maxHeight = `${Math.max(geometry.height, SMALLEST_AXIS)}px`;
    predictTitle.style.transform = `translate(${end + 6}px, 0)`;
    predictTitle.hidden = context.state.site === "encoder" || context.trace.predicted.length === 0;
    drawQueries(context, node, geometry, kept);
    drawKeys(context, node, geometry, kept.key);
  };
  return { element: node, update };
}

/** Keep exactly the labels of `places`: make the missing, remove the others. */
function keepLabels(parent, nodes, places, name) {
  for (const [place, node] of nodes) {
    if (!places.has(place)) {
      node.remove();
      nodes.delete(place);
    }
  }
  for (const place of places) {
    if (nodes.has(place)) continue;
    const node = element("bdi", { class: `axis-label token ${name}` });
    nodes.set(place, node);
    parent.append(node);
  }
}

/** Labels of the rows, and what each predicts. */
function drawQueries(context, parent, geometry, kept) {
  const { trace, state } = context;
  const site = siteOf(context);
  const [row, shown] = [currentRow(context), shownRows(context)];
  const height = cellSize(geometry).height;
  const wanted = [row, state.hover?.query ?? -1].filter((place) => place >= 0);
  const places = labelled(site.queries, geometry.y, height, geometry.querySpacing, wanted);
  keepLabels(parent, kept.query, places, "query-label");
  for (const [place, node] of kept.query) {
    writeToken(node, place < shown ? site.queryTokens[place] : "·");
    placeQuery(node, geometry, place, row);
    node.style.width = `${geometry.queryRoom}px`;
    const x = geometry.left - geometry.queryRoom - 8;
    node.style.transform = `translate(${x}px, ${labelTop(geometry, place, height)}px)`;
  }
  const predicts = state.site !== "encoder" && trace.predicted.length > 0;
  const rows = new Set(predicts ? [...places].filter((place) => place < shown) : []);
  keepLabels(parent, kept.predicted, rows, "predicted-label");
  for (const [place, node] of kept.predicted) {
    writeToken(node, trace.predicted[place], "→ ");
    placeQuery(node, geometry, place, row);
    node.style.width = `${geometry.predictedRoom - 8}px`;
    const x = geometry.left + geometry.width + 8;
    node.style.transform = `translate(${x}px, ${labelTop(geometry, place, height)}px)`;
  }
}

/** Mark a row's label by where it stands to the current row. */
function placeQuery(node, geometry, place, row) {
  node.classList.toggle("current", place === row);
  node.classList.toggle("ahead", row >= 0 && place > row);
}

/** Top of a row's label: the middle of its row. */
function labelTop(geometry, place, height) {
  return geometry.top + yOf(geometry, place) + height / 2 - geometry.font * 0.7;
}

/** Labels of the columns. */
function drawKeys(context, parent, geometry, nodes) {
  const { state } = context;
  const site = siteOf(context);
  const shown = shownKeys(context);
  const width = cellSize(geometry).width;
  const wanted = state.hover && state.hover.key !== null ? [state.hover.key] : [];
  const places = labelled(site.keys, geometry.x, width, geometry.keySpacing, wanted);
  keepLabels(parent, nodes, places, "key-label");
  for (const [place, node] of nodes) {
    writeToken(node, place < shown ? site.keyTokens[place] : "·");
    node.classList.toggle("hovered", state.hover?.key === place);
    node.classList.toggle("rotated", geometry.rotated);
    node.style.maxWidth = geometry.rotated ? `${geometry.keyRoom * 1.15}px` : "";
    const x = geometry.left + xOf(geometry, place) + width / 2;
    const y = geometry.top - 4;
    node.style.transform = geometry.rotated
      ? `translate(${x + 2}px, ${y - geometry.font * 1.4}px) rotate(-55deg)`
      : `translate(${x}px, ${y - geometry.font * 1.4}px) translateX(-50%)`;
  }
}
