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

/** The head to open on: the one that aligns best where that is known, else the first. */
function bestHead(trace, site) {
  let best = { layer: 0, head: 0, score: -1 };
  if (site.name !== "cross" || !trace.gold) return best;
  for (let layer = 0; layer < site.layers; layer += 1) {
    for (let head = 0; head < site.heads; head += 1) {
      const score = goldScore(trace, site, layer, head) ?? -1;
      if (score > best.score) best = { layer, head, score };
    }
  }
  return best;
}
