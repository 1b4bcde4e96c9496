const PRINTED_TYPE = { // px and digits of the printed weights, the best that fits its cell
  desk: [[12, 2]],
  projector: [[18, 2], [16, 2], [14, 2], [14, 1]],
};
const SMALLEST_PRINTED = { 1: 0.05, 2: 0.005 }; // by digits; below, a dot
const SMALLEST_RULE = 7; // px between two lines of the cover

/** What a step changes on the large map: outline, printed weights, cover, hovered key. */
function createOverlay(context) {
  const outline = element("div", { class: "outline", testid: "current-row" });
  const cover = element("div", { class: "cover", testid: "not-yet", title: context.say("not_yet") });
  const coverText = element("span", { class: "cover-text" }, context.say("not_yet"));
  cover.append(coverText);
  const keyMark = element("div", { class: "key-mark" });
  const cellMark = element("div", { class: "cell-mark" });
  const weights = element("div", { class: "weights", testid: "row-weights" });
  const clip = element("div", { class: "clip" }, cover, outline, weights, keyMark, cellMark);
  const tick = element("div", { class: "row-tick" });
  const node = element("div", { class: "overlay" }, clip, tick);
  const parts = { outline, cover, coverText, keyMark, cellMark, weights, clip, tick };
  return { element: node, update: (geometry) => drawOverlay(context, geometry, parts) };
}

/** Move the overlay's pieces to the present moment and zoom. */
function drawOverlay(context, geometry, parts) {
  const { state } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  const { width, height } = cellSize(geometry);
  rectangle(parts.clip, geometry.left, geometry.top, geometry.width, geometry.height);
  parts.outline.hidden = parts.tick.hidden = row < 0;
  const [left, right] = [xOf(geometry, 0), xOf(geometry, site.keys)];
  if (row >= 0) {
    const top = yOf(geometry, row);
    rectangle(parts.outline, left, top, right - left, height);
    const middle = geometry.top + top + height / 2;
    parts.tick.hidden = middle < geometry.top || middle > geometry.top + geometry.height;
    parts.tick.style.transform = `translate(${geometry.left - 7}px, ${middle - 7}px)`;
  }
  const covered = row >= 0 && row + 1 < site.queries;
  parts.cover.hidden = !covered;
  parts.cover.classList.toggle("veil", state.ahead);
  if (covered) {
    const top = yOf(geometry, row + 1);
    const rows = yOf(geometry, site.queries) - top;
    rectangle(parts.cover, left, top, right - left, rows);
    const ruled = height * Math.ceil(SMALLEST_RULE / height);
    parts.cover.style.backgroundSize = `100% ${ruled}px`;
    parts.coverText.hidden = state.ahead || rows < 20 || right - left < 90;
  }
  drawHover(context, geometry, parts, { width, height });
  printWeights(context, geometry, parts.weights, row, { width, height });
}

/** The hovered key's column and cell. */
function drawHover(context, geometry, { keyMark, cellMark }, { width, height }) {
  const { hover } = context.state;
  keyMark.hidden = !hover || hover.key === null;
  cellMark.hidden = keyMark.hidden || hover.query === null;
  if (keyMark.hidden) return;
  const bottom = yOf(geometry, siteOf(context).queries);
  rectangle(keyMark, xOf(geometry, hover.key), yOf(geometry, 0), width, bottom - yOf(geometry, 0));
  if (!cellMark.hidden) {
    rectangle(cellMark, xOf(geometry, hover.key), yOf(geometry, hover.query), width, height);
  }
}

/** The current row's weights in its cells, where the cells are large enough to read them. */
function printWeights(context, geometry, parent, row, size) {
  const { state, palette } = context;
  const site = siteOf(context);
  const [font, digits] = printedType(state, size);
  parent.hidden = row < 0 || row >= site.queries || !font;
  if (parent.hidden) return;
  const { weights, closed } = rowOf(site, state.layer, state.head, row);
  const codes = site.weights(state.layer, state.head).subarray(row * site.keys, (row + 1) * site.keys);
  const tone = tones(codes, site.keys, scaleOf(state, site));
  const cells = populate(parent, site.keys, () => element("span"));
  parent.style.transform = `translate(${xOf(geometry, 0)}px, ${yOf(geometry, row)}px)`;
  parent.style.height = `${size.height}px`;
  parent.style.fontSize = `${font}px`;
  weights.forEach((weight, key) => {
    const text = closed[key] ? "" : weight < SMALLEST_PRINTED[digits] ? "·" : shortWeight(weight, digits);
    write(cells[key], text);
    cells[key].style.width = `${size.width}px`;
    cells[key].style.color = inkOn(palette.ramp[Math.round(tone[key] * (LEVELS - 1))]);
  });
}

/** [px, digits] in which a weight fits into a cell; empty where none does. */
function printedType({ projector }, { width, height }) {
  const room = (font, digits) => font * (digits * 0.64 + 0.62); // digits, the point, air
  const types = PRINTED_TYPE[projector ? "projector" : "desk"];
  return types.find(([font, digits]) => width >= room(font, digits) && height >= font + 4) ?? [];
}

/** Place an absolutely positioned element. */
function rectangle(node, left, top, width, height) {
  node.style.transform = `translate(${left}px, ${top}px)`;
  node.style.width = `${width}px`;
  node.style.height = `${height}px`;
}
