/** The site on screen. */
function siteOf({ trace, state }) {
  return trace.sites[state.site];
}

/** The row asking now; −1 in the encoder, which is computed once, before step 1. */
function currentRow({ state }) {
  return state.site === "encoder" || state.step === 0 ? -1 : state.step - 1;
}

/** How many rows may be seen: all of them, or those decoded so far. */
function shownRows(context) {
  const site = siteOf(context);
  const row = currentRow(context);
  return row < 0 || context.state.ahead ? site.queries : Math.min(row + 1, site.queries);
}

/** How many keys may be named: in the decoder, keys are target tokens too. */
function shownKeys(context) {
  const site = siteOf(context);
  return site.name === "decoder" ? shownRows(context) : site.keys;
}

/** Weight, 0..scale, of one cell of a head. */
function weightAt(site, layer, head, query, key) {
  return (site.weights(layer, head)[query * site.keys + key] / FULL_WEIGHT) * site.scale;
}

/** One row of the selected head: {weights, closed}, both by key. */
function rowOf(site, layer, head, query) {
  const start = query * site.keys;
  return {
    weights: Array.from(
      site.weights(layer, head).subarray(start, start + site.keys),
      (code) => (code / FULL_WEIGHT) * site.scale,
    ),
    closed: site.closed(layer, head).subarray(start, start + site.keys),
  };
}

/** The candidate that took the place after `row`; undefined when nobody recorded any. */
function chosenAt(trace, row) {
  return trace.candidates[row]?.find((candidate) => candidate.chosen);
}

/** The name of a head, as everywhere in the app. */
function headName(layer, head) {
  return `L${layer} H${head}`;
}

/** The name of a head, or of the mean of a layer's heads. */
function shownName({ say }, layer, head) {
  return head === MEAN ? say("mean_of", { layer: `L${layer}` }) : headName(layer, head);
}

/**
 * The head to open on: in cross-attention the one that aligns best by the gold score, or, where
 * nobody knows what is right, by its coverage; else the first.
 */
function bestHead(trace, site) {
  let best = { layer: 0, head: 0, score: -1 };
  if (site.name !== "cross") return best;
  const scoreOf = trace.gold ? goldScore : coverage;
  for (let layer = 0; layer < site.layers; layer += 1) {
    for (let head = 0; head < site.heads; head += 1) {
      const score = scoreOf(trace, site, layer, head) ?? -1;
      if (score > best.score) best = { layer, head, score };
    }
  }
  return best;
}

/**
 * How well a cross head links what is said to what is read, where nobody knows what is right:
 * over the content tokens of the source, the mean of the largest weight that a row which predicts
 * content puts on them. A head that spreads its weight scores low, and so does one that is sure
 * of itself but rests on the same few tokens: of the others nothing is large.
 * @returns {number|null} null where the source has no content
 */
function coverage(trace, site, layer, head) {
  const { source, outputs } = trace.header.content;
  const weights = site.weights(layer, head);
  let [sum, tokens] = [0, 0];
  for (let key = 0; key < site.keys; key += 1) {
    if (!source[key]) continue;
    let most = 0;
    for (let row = 0; row < site.queries; row += 1) {
      if (outputs[row]) most = Math.max(most, weights[row * site.keys + key]);
    }
    sum += (most / FULL_WEIGHT) * site.scale;
    tokens += 1;
  }
  return tokens ? sum / tokens : null;
}
