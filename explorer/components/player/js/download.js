/** Give the person a file. */
function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A file name that says what is on the picture. */
function fileName({ state, trace }, ending) {
  const step = state.site === "encoder" ? "" : `-step${state.step}`;
  const head = state.head === MEAN ? "mean" : `H${state.head}`;
  const unit = trace.rows ? "-words" : "";
  return `attention-${state.site}-L${state.layer}-${head}${unit}${step}${ending}`;
}

/** The map as PNG or SVG, drawn apart from the one on screen. */
async function downloadFigure(context, format) {
  if (!context.plotly) return;
  const figure = exportFigure(context);
  const { width, height } = figure.layout;
  const scale = format === "png" ? 2 : 1;
  const filename = fileName(context, "");
  await context.plotly.downloadImage(figure, { format, width, height, scale, filename });
}

/** The shown matrix as CSV: keys across, queries down; nothing that is not yet decoded. */
function downloadTable(context) {
  download(fileName(context, ".csv"), "text/csv;charset=utf-8", `\ufeff${tableText(context)}`);
}

/** The links drawn on the map as one line in Pharaoh format. */
function downloadLinks(context) {
  const ending = `-${context.state.alignment}.pharaoh`;
  download(fileName(context, ending), "text/plain;charset=utf-8", `${pharaohText(context)}\n`);
}

/** The lines of the CSV file; a closed cell is empty, an open zero is a number. */
function tableText(context) {
  const { state } = context;
  const site = siteOf(context);
  const [rows, keys] = [shownRows(context), shownKeys(context)];
  const lines = [["", ...site.keyTokens.slice(0, keys).map(csvToken)].join(",")];
  for (let query = 0; query < rows; query += 1) {
    const { weights, closed } = rowOf(site, state.layer, state.head, query);
    const cells = weights.slice(0, keys).map((weight, key) => (closed[key] ? "" : weight.toFixed(4)));
    lines.push([csvToken(site.queryTokens[query]), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
