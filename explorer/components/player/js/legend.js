/** Under the map: the colour bar with its scale, and why cells are closed. */
function createLegend(context) {
  const { say } = context;
  const bar = element("canvas", { class: "bar", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks", testid: "scale-marks" });
  const words = { names: SCALES, prefix: "scale", label: "scale", small: true };
  const radios = createRadios(context, words, (scale) => context.set({ scale }));
  const reasons = element("div", { class: "reasons", testid: "reasons" });
  const node = element(
    "div",
    { class: "legend" },
    element("span", { class: "bar-name", title: say("weight_title") }, say("weight")),
    element("div", { class: "bar-box" }, bar, marks),
    radios.element,
    reasons,
  );
  const causes = ["trace", "site", "layer", "head", "scale", "theme"];
  const update = (changed) => {
    if (causes.some((name) => changed.has(name))) drawLegend(context, bar, marks, radios, reasons);
  };
  return { element: node, update };
}

/** Bring the legend to the present scale, theme and mask. */
function drawLegend(context, bar, marks, radios, reasons) {
  const { state, palette, say, trace } = context;
  const site = siteOf(context);
  const scale = scaleOf(state, site);
  const image = new ImageData(LEVELS, 1);
  palette.ramp.forEach((colour, level) => image.data.set([...colour, 255], level * 4));
  paint(bar, image);
  marks.replaceChildren(
    ...scaleMarks(scale, site.scale).map(([tone, text]) => {
      const mark = element("span", {}, text);
      mark.style.left = `${tone * 100}%`;
      return mark;
    }),
  );
  radios.check(scale);
  const codes = new Set(site.closed(state.layer, state.head));
  const swatches = [1, 2, 3]
    .filter((code) => codes.has(code))
    .map((code) => {
      const name = trace.header.reasons[code].replace(" ", "_");
      const title = say(`reason_${name}_title`);
      const swatch = element("canvas", { class: "swatch", width: 36, height: 24, "aria-hidden": "true" });
      paintSwatch(swatch, palette, code);
      return element("span", { class: "reason-key", title }, swatch, say(`reason_${name}`));
    });
  reasons.replaceChildren(...swatches);
}

/** A small closed cell. */
function paintSwatch(canvas, palette, code) {
  const pen = canvas.getContext("2d");
  pen.fillStyle = css(palette.closed[code]);
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const geometry = { width: canvas.width, height: canvas.height, x: [-0.5, 0.5], y: [-0.5, 0.5] };
  drawPattern(pen, geometry, { queries: 1, keys: 1 }, [code], palette);
}
