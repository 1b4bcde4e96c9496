// Sentences of a page that cannot be read whole: cut off by a box, or outside of their button, over
// one another, or wider than the window. An ellipsis says that there is more, but not on a button
// without a hover text. Tokens are not sentences; names of models, runs and reports may be cut off.
() => {
  const BUTTONS = "button:not(.head-cell, .thumbnail), a[href], summary, label";
  const CHOICES = "[role=tab], [role=radio]";
  const OVER = "[role=listbox], [role=menu], [role=dialog], [data-testid=stPopoverBody], .menu";
  const HEADER = ".st-key-header, [data-testid=stHeader], .st-key-hint";
  const SCROLLED = ".st-key-language"; // as many languages as there are
  const NAMES =
    "[data-testid=model], .st-key-train-run, [class*=st-key-measure-batch-]";

  const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  const within = (root) =>
    [...root.querySelectorAll("*")].flatMap((node) =>
      node.shadowRoot ? [node, ...within(node.shadowRoot)] : [node],
    );
  const upwards = (node) => (node ? [node, ...upwards(parentOf(node))] : []);
  const isIn = (node, selector) => upwards(node).some((one) => one.matches(selector));
  const layerOf = (node) => {
    if (isIn(node, OVER)) return "over the page";
    if (isIn(node, HEADER) && !isIn(node, "html[data-header-full] .st-key-hint")) return "header";
    return upwards(node).find((one) => /fixed|sticky/.test(getComputedStyle(one).position));
  };
  const drawn = (node) =>
    node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    !upwards(node).some((one) => one.clientWidth === 1 && one.clientHeight === 1);
  const boxOf = (node) => {
    const { left, top } = node.getBoundingClientRect();
    const [x, y] = [left + node.clientLeft, top + node.clientTop];
    return { left: x, top: y, right: x + node.clientWidth, bottom: y + node.clientHeight };
  };
  const common = (one, other) => ({
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom),
  });

  const faults = [];
  const told = (what, text, node, ...facts) =>
    faults.push([what, text.slice(0, 60), node.outerHTML.slice(0, 120), ...facts]);

  /** What is seen of a line of text; a box that cuts it off is a fault. */
  const seen = (rect, node, text) => {
    let shown = common(rect, rect);
    const high = rect.bottom - rect.top;
    for (const box of upwards(node)) {
      const style = getComputedStyle(box);
      const ways = [style.overflowX, style.overflowY];
      if (/^(inline|contents)$/.test(style.display) || ways.every((way) => way === "visible"))
        continue;
      const room = boxOf(box);
      const across = shown.right > room.right + 2 || shown.left < room.left - 2;
      const down = shown.bottom > room.bottom + high / 3 || shown.top < room.top - high / 3;
      const cut = [across, down].some((out, way) => out && /hidden|clip/.test(ways[way]));
      const button = isIn(node, BUTTONS);
      const choice = isIn(node, CHOICES) && !isIn(node, SCROLLED);
      const scrolled = across && choice && /auto|scroll/.test(ways[0]);
      const ellipsis = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      if ((cut && !(ellipsis && (!button || isIn(node, "[title]")))) || scrolled)
        told("cut off", text, node, box.outerHTML.slice(0, 80));
      if (cut || scrolled || /auto|scroll/.test(ways.join())) shown = common(shown, room);
      if (shown.right - shown.left < 1 || shown.bottom - shown.top < 1) return null;
      if (style.position === "fixed") break;
    }
    return shown;
  };

  const lines = [];
  for (const node of within(document.body)) {
    if (/^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT|OPTION)$/.test(node.tagName) || !drawn(node)) continue;
    if (node instanceof SVGElement || isIn(node, "bdi, .token, [data-testid=stIconMaterial]"))
      continue;
    for (const child of node.childNodes) {
      if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(child);
      for (const rect of range.getClientRects()) {
        if (rect.width < 2 || rect.right < 0) continue; // a closed menu is outside of the window
        const shown = seen(rect, node, child.data);
        if (!shown) continue;
        lines.push({ node, text: child.data, shown, layer: layerOf(node) });
        const button = node.closest("button, [role=tab], [role=radio], summary");
        const edge = button?.getBoundingClientRect();
        if (edge && (shown.right > edge.right + 2 || shown.bottom > edge.bottom + 4))
          told("outside of its button", child.data, button);
        if (shown.right > innerWidth + 1) told("outside of the window", child.data, node);
      }
    }
  }
  lines.forEach((one, at) => {
    for (const other of lines.slice(at + 1)) {
      if (one.layer !== other.layer || one.node === other.node) continue;
      const { left, right, top, bottom } = common(one.shown, other.shown);
      if (right - left > 3 && bottom - top > 5)
        told("over another", `${one.text} / ${other.text}`, one.node, other.node.outerHTML.slice(0, 80));
    }
  });
  const pen = document.createElement("canvas").getContext("2d");
  for (const field of within(document.body)) {
    if (!field.matches("select, [role=combobox]") || !drawn(field) || isIn(field, NAMES)) continue;
    const style = getComputedStyle(field);
    pen.font = style.font;
    const arrow = field.matches("select") ? 18 : 0;
    const chosen = field.matches("select") ? field.selectedOptions[0]?.text : field.value;
    const room = field.clientWidth - Number.parseFloat(style.paddingLeft) - arrow;
    if (pen.measureText(chosen ?? "").width > room + 2) told("longer than its field", chosen, field);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1)
    faults.push(["a page wider than the window", document.documentElement.scrollWidth]);
  return faults;
}
