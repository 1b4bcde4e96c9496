const LINK_INSET = 4; // px between a mark and the edge of its cell
const SMALL_LINK = 14; // px; corners of a smaller cell would be dots
const ALIGNMENTS = ["off", "prediction", "input"]; // which row links a target token to the source

/** Over the map: from which row the tokens of the target are linked to the source. */
function createAlignment(context) {
  const { say } = context;
  const words = { names: ALIGNMENTS, prefix: "alignment", label: "alignment", small: true };
  const radios = createRadios(context, words, (alignment) => context.set({ alignment }));
  const name = element("span", { class: "alignment-name", title: say("alignment_title") }, say("alignment"));
  const node = element("div", { class: "alignment" }, name, radios.element);
  const update = (changed) => {
    node.hidden = context.state.site !== "cross";
    if (changed.has("alignment") || changed.has("trace")) radios.check(context.state.alignment);
  };
  return { element: node, update };
}

/**
 * The source position each row of the map links its token to, −1 = none: the largest weight on
 * a content token, as `explorer.alignment` has it.
 * @returns {Int32Array} by row; empty where no alignment is shown
 */
function linksOf(context) {
  const { state, trace } = context;
  if (state.site !== "cross" || state.alignment === "off") return new Int32Array(0);
  const cause = [trace, state.layer, state.head, state.alignment];
  if (!context.links || cause.some((part, place) => part !== context.links.cause[place])) {
    context.links = { cause, rows: findLinks(context) };
  }
  return context.links.rows;
}

/** As `linksOf`, computed anew. */
function findLinks(context) {
  const { trace, state } = context;
  const { source, outputs } = trace.header.content;
  const ofPieces = trace.rows !== null && state.alignment === "prediction";
  const weightsOf = ofPieces ? predictingRow : shownRow;
  return Int32Array.from({ length: trace.steps }, (_, row) => {
    if (!outputs[state.alignment === "input" ? row - 1 : row]) return -1;
    const weights = weightsOf(context, row);
    let best = -1;
    for (let key = 0; key < weights.length; key += 1) {
      if (source[key] && (best < 0 || weights[key] > weights[best])) best = key;
    }
    return best;
  });
}

/** The weights of one row of the map, by key. */
function shownRow({ trace, state }, row) {
  const site = trace.sites.cross;
  return site.weights(state.layer, state.head).subarray(row * site.keys, (row + 1) * site.keys);
}

/**
 * Of the word that a row of words predicts: the sum, by source word, over the rows of the pieces
 * that predict its pieces. The row itself is the mean of other rows: of those where the word
 * before it is fed in, only the last of which predicts what comes after that word.
 */
function predictingRow({ trace, pieces, state }, row) {
  const site = pieces.sites.cross;
  const weights = site.weights(state.layer, state.head);
  const sums = new Float64Array(trace.columns.length);
  const first = trace.rows[row];
  const stop = trace.rows[row + 1] ?? first + 1; // what the last row predicts is fed in nowhere
  for (let query = first; query < stop; query += 1) {
    let word = 0;
    for (let key = 0; key < site.keys; key += 1) {
      if (key > trace.columns[word]) word += 1;
      sums[word] += weights[query * site.keys + key];
    }
  }
  return sums;
}

/** The source position one row links its token to; −1 = none. */
function linkAt(context, row) {
  return linksOf(context)[row] ?? -1;
}

/** The links that may be seen, in Pharaoh format: source-target, by place among content tokens. */
function pharaohText(context) {
  const { source, outputs } = context.trace.header.content;
  const placeOf = (flags, place) => flags.slice(0, place).filter(Boolean).length;
  const shift = context.state.alignment === "input" ? 1 : 0;
  const links = Array.from(linksOf(context).subarray(0, shownRows(context)));
  return links
    .flatMap((key, row) => (key < 0 ? [] : [`${placeOf(source, key)}-${placeOf(outputs, row - shift)}`]))
    .join(" ");
}

/**
 * The marks of linked cells: corners of a frame, which leave room for a printed weight and are
 * neither a ring (gold) nor a whole frame (the current row, the hovered cell).
 * @param {object} cell its width and height, in any unit; of a small cell all of it is framed
 * @returns {number[][][]} lines of points from the cell's top left corner
 */
function cornersOf({ width, height }, inset, small) {
  const [left, top, right, bottom] = [inset, inset, width - inset, height - inset];
  const arm = small ? 0.5 : 0.25;
  const [across, down] = [(right - left) * arm, (bottom - top) * arm];
  const corner = (x, y, toX, toY) => [[x + toX * across, y], [x, y], [x, y + toY * down]];
  return [corner(left, top, 1, 1), corner(right, top, -1, 1), corner(right, bottom, -1, -1), corner(left, bottom, 1, -1)];
}

/** Mark the linked cells, ink within paper, so that it is seen on every weight. */
function drawLinks(context, canvas, geometry) {
  const { palette } = context;
  const dense = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(geometry.width * dense);
  canvas.height = Math.ceil(geometry.height * dense);
  rectangle(canvas, geometry.left, geometry.top, geometry.width, geometry.height);
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  const size = cellSize(geometry);
  const smaller = Math.min(size.width, size.height);
  const lines = cornersOf(size, Math.min(smaller / 10, LINK_INSET), smaller < SMALL_LINK);
  const marks = new Path2D();
  linksOf(context).forEach((key, row) => {
    if (key < 0) return;
    const at = ([x, y]) => [x + xOf(geometry, key), y + yOf(geometry, row)];
    for (const [start, ...rest] of lines) {
      marks.moveTo(...at(start));
      for (const point of rest) marks.lineTo(...at(point));
    }
  });
  for (const [colour, width] of linkStrokes(palette)) {
    pen.strokeStyle = css(colour);
    pen.lineWidth = Math.min(width, smaller / 3);
    pen.stroke(marks);
  }
}

/** [colour, px] of the two strokes, one over the other. */
function linkStrokes({ paper, ink }) {
  return [[paper, 4.5], [ink, 2]];
}
