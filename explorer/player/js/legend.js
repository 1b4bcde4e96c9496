/** Under the map: the colour bar with its scale, and why cells are closed. */
function createLegend(context) {
  const { say } = context;
  const bar = element("canvas", { class: "bar", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks", testid: "scale-marks" });
  const buttons = Object.fromEntries(
    SCALES.map((name) => [
      name,
      element(
        "button",
        {
          type: "button",
          role: "radio",
          testid: `scale-${name}`,
          title: say(`scale_${name}_title`),
          on: { click: () => context.set({ scale: name }) },
        },
        say(`scale_${name}`),
      ),
    ]),
  );
  const group = { class: "segments small", role: "radiogroup", "aria-label": say("scale") };
  const reasons = element("div", { class: "reasons", testid: "reasons" });
  const node = element(
    "div",
    { class: "legend" },
    element("span", { class: "bar-name", title: say("weight_title") }, say("weight")),
    element("div", { class: "bar-box" }, bar, marks),
    element("div", group, ...Object.values(buttons)),
    reasons,
  );
  const causes = ["trace", "site", "layer", "head", "scale", "theme"];
  const update = (changed) => {
    if (causes.some((name) => changed.has(name))) drawLegend(context, bar, marks, buttons, reasons);
  };
  return { element: node, update };
}

/** Bring the legend to the present scale, theme and mask. */
function drawLegend(context, bar, marks, buttons, reasons) {
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
  for (const [name, button] of Object.entries(buttons)) {
    assign(button, "aria-checked", name === scale ? "true" : "false");
  }
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
