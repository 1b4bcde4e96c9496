const ARRAY_TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};
const FULL_WEIGHT = 65535;
const MEAN = -1; // in place of a head: the mean of all heads of its layer

/**
 * Read the bytes Python wrote.
 * @param {Uint8Array} bytes
 * @param {object} outer what the header does not say itself: that of the trace in pieces
 * @returns {object} header, tokens, sites, candidates by step and gold; `words`: the same in
 *   words, or null; of a trace in words, `rows` and `columns`: the places of each target and
 *   each source word's last piece
 */
function readPayload(bytes, outer = {}) {
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes; // typed arrays must be aligned
  const size = new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  const header = { ...outer, ...JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + size))) };
  const start = whole.byteOffset + 4 + size;
  const array = (name) => {
    const place = header.arrays[name];
    return place && new ARRAY_TYPES[place.type](whole.buffer, start + place.start, place.length);
  };
  const sites = {};
  for (const name of Object.keys(header.sites)) {
    sites[name] = readSite(name, header, array(`${name}.attention`), array(`${name}.closed`));
  }
  return {
    header,
    source: header.source,
    target: header.target,
    predicted: header.predicted,
    steps: header.target.length,
    sites,
    candidates: readCandidates(header, array),
    gold: array("gold"),
    words: header.arrays.words ? readPayload(array("words"), header) : null,
    rows: header.rows ?? null,
    columns: header.columns ?? null,
  };
}

/** One site: sizes, tokens, and its heads' weight codes and closed codes. */
function readSite(name, header, codes, closed) {
  const { shape, scale, packed } = header.sites[name];
  const [layers, heads, queries, keys] = shape;
  const area = queries * keys;
  const weights = packed ? unpack(codes, closed, layers * heads, area) : codes;
  const none = closed ? null : new Uint8Array(area);
  const differ = Boolean(closed) && closed.length > area;
  const place = (layer, head) => (layer * heads + head) * area;
  const one = (array, layer, head) => array.subarray(place(layer, head), place(layer, head) + area);
  const means = new Map(); // by layer
  const mean = (layer) => {
    const all = (array) => Array.from({ length: heads }, (_, head) => one(array, layer, head));
    if (!means.has(layer)) {
      const shut = differ ? closedInAll(all(closed)) : null;
      means.set(layer, { weights: meanOf(all(weights)), closed: shut });
    }
    return means.get(layer);
  };
  return {
    name,
    layers,
    heads,
    queries,
    keys,
    scale,
    queryTokens: name === "encoder" ? header.source : header.target,
    keyTokens: name === "decoder" ? header.target : header.source,
    weights: (layer, head) => (head === MEAN ? mean(layer).weights : one(weights, layer, head)),
    closed: (layer, head) => {
      if (!differ) return none || closed;
      return head === MEAN ? mean(layer).closed : one(closed, layer, head);
    },
  };
}

/** The mean of the heads' codes. */
function meanOf(heads) {
  return heads[0].map((_, cell) => Math.round(heads.reduce((sum, codes) => sum + codes[cell], 0) / heads.length));
}

/** Closed where every head has it closed, for the first one's reason. */
function closedInAll(heads) {
  return heads[0].map((code, cell) => (heads.every((codes) => codes[cell] !== 0) ? code : 0));
}

/** Put the open cells back in their places, zeros behind the mask. */
function unpack(codes, closed, matrices, area) {
  const open = [];
  for (let cell = 0; cell < area; cell += 1) if (closed[cell] === 0) open.push(cell);
  const weights = new Uint16Array(matrices * area);
  for (let matrix = 0, from = 0; matrix < matrices; matrix += 1) {
    for (const cell of open) weights[matrix * area + cell] = codes[from++];
  }
  return weights;
}

/** Candidates by row: [{rank, token, probability, chosen, forced, id}, …], best first. */
function readCandidates(header, array) {
  const rows = header.target.map(() => []);
  const step = array("steps.step");
  if (!step) return rows;
  const [rank, label] = [array("steps.rank"), array("steps.label")];
  const [probability, id] = [array("steps.probability"), array("steps.id")];
  const [chosen, forced] = [array("steps.chosen"), array("steps.forced")];
  step.forEach((number, place) => {
    rows[number - 1].push({
      rank: rank[place],
      token: header.labels[label[place]],
      probability: probability[place],
      chosen: chosen[place] === 1,
      forced: forced[place] === 1 && !header.facts.given, // a given target is nobody's choice
      id: id[place],
    });
  });
  for (const row of rows) row.sort((one, other) => one.rank - other.rank);
  return rows;
}

/** Whether source position `key` is where the right answer to `row` comes from. */
function isGold(trace, row, key) {
  const bit = row * trace.source.length + key;
  return Boolean(trace.gold) && ((trace.gold[bit >> 3] >> (bit & 7)) & 1) === 1;
}

/**
 * Mean over the rows whose right source position is known of the weight put there.
 * @returns {number|null} null where no row has one
 */
function goldScore(trace, site, layer, head) {
  const weights = site.weights(layer, head);
  let [sum, rows] = [0, 0];
  for (let row = 0; row < site.queries; row += 1) {
    let known = false;
    for (let key = 0; key < site.keys; key += 1) {
      if (!isGold(trace, row, key)) continue;
      known = true;
      sum += (weights[row * site.keys + key] / FULL_WEIGHT) * site.scale;
    }
    rows += known ? 1 : 0;
  }
  return rows ? sum / rows : null;
}
