const PRINTED_CELL = 30; // px; from here on a weight fits into its cell of an exported figure
const MAP_TYPE = { desk: 12, projector: 18 }; // px
const LARGEST_CELL = 76;
const SLANTED = 1.25; // room of a slanted label, in heights of its type
const PROJECTOR_SLACK = 1.5; // the back row wants large cells more than square ones
const MARK_SIZE = 0.65; // of a word's mark to the type, as the style sheet has it
const BYTE_TYPE = 'ui-monospace, "DejaVu Sans Mono", monospace'; // and of bytes,
const BYTE_SIZE = 0.92; // both as the style sheet has them
const RIBBON_CELL = 26;
const SMALLEST_AXIS = 96; // px the title of an axis needs

/** Width of `text` in px. */
function textWidth(pen, text) {
  return pen.measureText(text).width;
}

/** Width of a token with its mark, px. */
function tokenWidth(pen, token) {
  if (BYTE.test(token)) return byteWidth(pen, labelOf(token));
  return textWidth(pen, labelOf(token)) + (markOf(token) ? textWidth(pen, WORD_START) * MARK_SIZE : 0);
}

/** Width of the label of a byte, px. */
function byteWidth(pen, text) {
  const type = pen.font;
  pen.font = `${parseFloat(type) * BYTE_SIZE}px ${BYTE_TYPE}`;
  const width = textWidth(pen, text);
  pen.font = type;
  return width;
}

/** The widest label of a list, measured over its distinct tokens. */
function widest(pen, tokens) {
  let width = 0;
  for (const token of new Set(tokens)) width = Math.max(width, tokenWidth(pen, token));
  return width;
}

/** The room a cell needs so that no two neighbours' labels touch. */
function levelSpacing(pen, tokens) {
  const widths = tokens.map((token) => tokenWidth(pen, token));
  return widths.reduce((most, width, place) => Math.max(most, (width + (widths[place - 1] ?? 0)) / 2), 0);
}

/**
 * Where everything of the large map lies within a box of `width` × `height` px.
 * @returns {object} plot rectangle {left, top, width, height}, label room, label spacing
 */
function createGeometry({ palette, state, trace, say }, site, width, height) {
  const font = MAP_TYPE[state.projector ? "projector" : "desk"];
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${font}px ${palette.font}`;
  const bounded = (value, most) => Math.ceil(Math.min(value, most));
  const predicts = site.name !== "encoder" && trace.predicted.length > 0;
  const queryRoom = bounded(widest(pen, site.queryTokens), width * 0.2) + 12;
  const title = textWidth(pen, say("predicts")) + font;
  const longest = Math.max(widest(pen, trace.predicted) + 3 * font, title);
  const predictedRoom = predicts ? bounded(longest, width * 0.2 + font) : 8;
  const left = queryRoom + Math.round(font * 1.6) + 8;
  const keyWidth = widest(pen, site.keyTokens);
  const largest = LARGEST_CELL * (font / MAP_TYPE.desk);
  const roomForKeys = (width - left - predictedRoom) / site.keys;
  const level = levelSpacing(pen, site.keyTokens) + font * 0.2;
  const slack = state.projector ? PROJECTOR_SLACK : 1;
  const tall = Math.max(((height - 5 * font) / site.queries) * slack, RIBBON_CELL); // cells are about square
  const crowded = level > Math.min(roomForKeys, largest, tall);
  const rotated = crowded && (keyWidth > 2.4 * font || roomForKeys > font * SLANTED);
  const keyRoom = rotated ? bounded(keyWidth * 0.85, height * 0.22) + font : font + 6;
  const top = Math.round(font * 1.7) + keyRoom;
  const room = { width: width - left - predictedRoom, height: height - top - 6 };
  const cell = cellShape(site, room, largest, slack);
  return {
    box: { width, height },
    font,
    left,
    top,
    width: Math.max(cell.width * site.keys, 10),
    height: Math.max(cell.height * site.queries, 10),
    queryRoom,
    predictedRoom,
    keyRoom,
    rotated,
    keySpacing: rotated ? font * SLANTED : crowded ? keyWidth + font * 0.4 : level,
    querySpacing: font * 1.2,
    x: [-0.5, site.keys - 0.5],
    y: [-0.5, site.queries - 0.5],
  };
}

/**
 * Size of a cell, px: square, unless so few rows or columns would make a mere ribbon; longer by
 * up to `slack` where there is room.
 */
function cellShape(site, room, largest, slack) {
  const [across, down] = [room.width / site.keys, room.height / site.queries];
  const square = Math.min(across, down, largest);
  const longer = (most) => Math.min(most, square * slack, largest);
  const stretched = (most) => (most > 2 * square ? Math.max(longer(most), Math.min(most, RIBBON_CELL)) : longer(most));
  return { width: stretched(across), height: stretched(down) };
}

/** Size of a cell, px, at the present zoom. */
function cellSize(geometry) {
  return {
    width: geometry.width / (geometry.x[1] - geometry.x[0]),
    height: geometry.height / (geometry.y[1] - geometry.y[0]),
  };
}

/** Left edge of column `key`, px from the plot's left. */
function xOf(geometry, key) {
  return (key - 0.5 - geometry.x[0]) * cellSize(geometry).width;
}

/** Top edge of row `query`, px from the plot's top. */
function yOf(geometry, query) {
  return (query - 0.5 - geometry.y[0]) * cellSize(geometry).height;
}

/** The cell under a point of the box; null outside the plot. */
function cellAt(geometry, x, y) {
  const [across, down] = [x - geometry.left, y - geometry.top];
  if (across < 0 || down < 0 || across >= geometry.width || down >= geometry.height) return null;
  const size = cellSize(geometry);
  return {
    key: Math.floor(across / size.width + geometry.x[0] + 0.5),
    query: Math.floor(down / size.height + geometry.y[0] + 0.5),
  };
}

/**
 * Which of `count` positions get a label: every n-th that has room, and always the `wanted`
 * ones, whose neighbours make way.
 */
function labelled(count, range, cell, spacing, wanted) {
  const every = Math.max(1, Math.ceil(spacing / cell));
  const first = Math.max(0, Math.ceil(range[0]));
  const last = Math.min(count - 1, Math.floor(range[1]));
  const always = wanted.filter((place) => place >= first && place <= last);
  const places = new Set(always);
  for (let place = Math.ceil(first / every) * every; place <= last; place += every) {
    if (always.every((other) => Math.abs(other - place) * cell >= spacing)) places.add(place);
  }
  return places;
}
