/** The weights and the closed cells of the selected head as Plotly traces. */
function figureData(context, rows) {
  const { state, palette } = context;
  const site = siteOf(context);
  const closed = site.closed(state.layer, state.head);
  const tone = tones(site.weights(state.layer, state.head), site.keys, scaleOf(state, site));
  const table = (value) =>
    Array.from({ length: site.queries }, (_, query) =>
      Array.from({ length: site.keys }, (_, key) => value(query * site.keys + key, query)),
    );
  const shared = { type: "heatmap", hoverinfo: "skip", showscale: false, zmin: 0, zmax: 1 };
  const open = table((cell, query) => (closed[cell] || query >= rows ? null : tone[cell]));
  const data = [{ ...shared, z: open, colorscale: plotlyRamp(palette) }];
  if (closed.some((code) => code !== 0)) {
    const codes = table((cell, query) => (query < rows && closed[cell] ? closed[cell] : null));
    const scale = plotlyGreys(palette);
    data.push({ ...shared, z: codes, colorscale: scale, zmin: 0.5, zmax: 3.5 });
  }
  return data;
}

/** The palette's ramp as Plotly writes one. */
function plotlyRamp(palette) {
  return Array.from({ length: 33 }, (_, place) => [
    place / 32,
    css(palette.ramp[Math.round((place / 32) * (LEVELS - 1))]),
  ]);
}

/** Three flat greys, one a reason. */
function plotlyGreys(palette) {
  return [1, 2, 3].flatMap((code) => [
    [(code - 1) / 3, css(palette.closed[code])],
    [code / 3, css(palette.closed[code])],
  ]);
}

/**
 * The figure on screen: cells only. Labels and the current step are drawn over it, because they
 * change at every step and this need not.
 */
function liveFigure(context, geometry) {
  const site = siteOf(context);
  const axis = { showgrid: false, zeroline: false, showticklabels: false, ticks: "" };
  const ends = { x: [-0.5, site.keys - 0.5], y: [-0.5, site.queries - 0.5] };
  const { box, left, top, width, height } = geometry;
  const layout = {
    width: box.width,
    height: box.height,
    margin: { l: left, t: top, r: box.width - left - width, b: box.height - top - height, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hovermode: false,
    dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    uirevision: `${context.generation}/${site.name}`,
    xaxis: { ...axis, range: ends.x, minallowed: ends.x[0], maxallowed: ends.x[1] },
    yaxis: { ...axis, range: [...ends.y].reverse(), minallowed: ends.y[0], maxallowed: ends.y[1] },
  };
  return { data: figureData(context, site.queries), layout };
}

/** "Cross · L1 H3". */
function mapTitle(context) {
  const { say, state } = context;
  return `${say(`site_${state.site}`)} · ${shownName(context, state.layer, state.head)}`;
}
