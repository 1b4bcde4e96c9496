const PRINTED_FIELD = 34; // px; in cells of this width a number can be read

/**
 * A map of numbers that are no weights, on a scale and under a title of its own.
 * @param {object} context a stand: site, head, step and axes are its own
 * @param {object} frame
 * @param {object} about `name` of its sentences, `read(site)`: its numbers, `signed`
 */
function createFieldMap(context, frame, { name, read, signed }) {
  const title = element("h3", { class: "map-title", testid: `${name}-title` });
  const cells = element("canvas", { class: "base" });
  const pattern = element("canvas", { class: "pattern" });
  const printed = element("div", { class: "printed", "aria-hidden": "true" });
  const axes = createAxes(context);
  const box = element("div", { class: "map field", role: "img", testid: name }, cells, pattern, printed, axes.element);
  const bar = element("canvas", { class: "bar", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks" });
  const note = element("p", { class: "field-note", testid: `${name}-note` });
  const legend = element(
    "div",
    { class: "legend" },
    element("span", { class: "bar-name" }, frame.say(`${name}_unit`)),
    element("div", { class: "bar-box" }, bar, marks),
    note,
  );
  const heading = element("header", { class: "map-heading" }, title);
  const node = element("section", { class: "map-panel", "aria-label": frame.say(`${name}_title`) }, heading, box, legend);
  const own = { context, frame, name, read, signed, title, box, below: legend, cells, pattern, printed, axes, bar, marks, note };
  watchField(own);
  const causes = ["trace", "site", "layer", "head", "theme", "size"];
  const update = (changed) => {
    if (causes.some((cause) => changed.has(cause))) drawField(own);
    if (own.geometry) axes.update(own.geometry);
  };
  return { element: node, update };
}

/** Draw the numbers of the selected head. */
function drawField(own) {
  const { context, frame, box, name } = own;
  const { layer, head } = context.state;
  const site = siteOf(context);
  write(own.title, frame.say(`${name}_heading`, { title: mapTitle(context) }));
  if (!measureField(own)) return;
  own.field = own.read(site);
  box.classList.toggle("empty", !own.field);
  const most = own.field?.largest || 0;
  const palette = { ...context.palette, ramp: own.signed ? divergingRamp(context.palette) : context.palette.ramp };
  const values = own.field?.of(layer, head) ?? new Float32Array(site.queries * site.keys);
  const tone = Float32Array.from(values, (value) => {
    const share = most ? value / most : 0;
    return own.signed ? (share + 1) / 2 : share;
  });
  // What an intervention opened has a number, though the original had it closed.
  const closed = site.closed(layer, head).map((code, cell) => (values[cell] === 0 ? code : 0));
  paint(own.cells, bitmap(palette, tone, closed, site.queries, site.keys));
  rectangle(own.cells, own.geometry.left, own.geometry.top, own.geometry.width, own.geometry.height);
  paintFieldPattern(own, closed);
  printField(own, { values, tone, closed, palette, most });
  drawBar(own.bar, own.marks, { signed: own.signed, most, ramp: palette.ramp });
  write(own.note, fieldNote(own, values, most));
  assign(box, "aria-label", `${own.title.textContent}. ${own.note.textContent}`);
}

/** Why cells are closed. */
function paintFieldPattern({ context, pattern, geometry }, closed) {
  const dense = window.devicePixelRatio || 1;
  pattern.width = Math.ceil(geometry.width * dense);
  pattern.height = Math.ceil(geometry.height * dense);
  rectangle(pattern, geometry.left, geometry.top, geometry.width, geometry.height);
  const pen = pattern.getContext("2d");
  pen.scale(dense, dense);
  drawPattern(pen, geometry, siteOf(context), closed, context.palette);
}

/** The room there is; false while there is none. */
function measureField(own) {
  const { box, context } = own;
  const narrow = context.root.dataset.narrow !== undefined;
  const width = box.clientWidth;
  const height = narrow ? Math.max(300, Math.min(width, window.innerHeight * 0.62)) : box.clientHeight;
  if (width < 40 || height < 40) return false;
  box.style.height = narrow ? `${height}px` : "";
  own.geometry = createGeometry(context, siteOf(context), width, height);
  const slack = Math.max(height - own.geometry.top - own.geometry.height - 6, 0);
  if (narrow) box.style.height = `${height - slack}px`;
  own.below.style.transform = narrow ? "" : `translateY(${-slack}px)`; // close up to the cells
  return true;
}

/** The numbers in their cells, where the cells are large enough. */
function printField({ context, printed, geometry, signed }, { values, tone, closed, palette, most }) {
  const site = siteOf(context);
  const { width, height } = cellSize(geometry);
  printed.replaceChildren();
  if (width < PRINTED_FIELD || height < 16) return;
  rectangle(printed, geometry.left, geometry.top, geometry.width, geometry.height);
  values.forEach((value, cell) => {
    if (closed[cell] || Math.abs(value) < Math.max(most * 0.02, 0.005)) return;
    const node = element("span", {}, fieldNumber(value, signed));
    node.style.color = inkOn(palette.ramp[Math.round(tone[cell] * (LEVELS - 1))]);
    rectangle(node, (cell % site.keys) * width, Math.floor(cell / site.keys) * height, width, height);
    node.style.lineHeight = `${height}px`;
    printed.append(node);
  });
}

/** A number of the field, without a leading zero. */
function fieldNumber(value, signed) {
  const text = shortNumber(Math.abs(value)).replace(/^0\./, ".");
  const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
  return sign + text;
}

/** The largest number of this head, in words. */
function fieldNote({ context, frame, name, field }, values, most) {
  if (!field) return frame.say(`${name}_none`);
  if (!most) return frame.say(`${name}_zero`);
  const site = siteOf(context);
  let best = 0;
  values.forEach((value, cell) => {
    if (Math.abs(value) > Math.abs(values[best])) best = cell;
  });
  const facts = { strongest: headName(field.strongest.layer, field.strongest.head) };
  if (values[best] === 0) return frame.say(`${name}_elsewhere`, facts);
  return frame.say(`${name}_note`, {
    ...facts,
    value: name === "difference" ? signedNumber(values[best]) : shortNumber(values[best]),
    query: labelOf(site.queryTokens[Math.floor(best / site.keys)]),
    key: labelOf(site.keyTokens[best % site.keys]),
  });
}

/** What the cell under the pointer says, in its title, which a browser shows by itself. */
function watchField(own) {
  const { box, context, frame } = own;
  box.addEventListener("pointermove", (event) => {
    const outer = box.getBoundingClientRect();
    const cell = own.geometry && cellAt(own.geometry, event.clientX - outer.left, event.clientY - outer.top);
    const site = siteOf(context);
    const values = own.field?.of(context.state.layer, context.state.head);
    const value = cell && values ? values[cell.query * site.keys + cell.key] : null;
    const facts = cell && { query: labelOf(site.queryTokens[cell.query]), key: labelOf(site.keyTokens[cell.key]) };
    const words = facts && frame.say(`${own.name}_cell`, { ...facts, value: value === null ? "–" : value.toFixed(4) });
    assign(box, "title", words || null);
  });
}
