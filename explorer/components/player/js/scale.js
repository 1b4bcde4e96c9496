const SCALES = ["linear", "sqrt", "row"];
const LONG_ROW = 33;

/**
 * The scale in use: the person's choice, else √ where a row has many keys to share; `widest`:
 * also beside it, where two are compared.
 */
function scaleOf(state, site) {
  return state.scale ?? ((site.widest ?? site.keys) >= LONG_ROW ? "sqrt" : "linear");
}

/**
 * How far along the colour ramp each weight stands, 0..1, row by row.
 * @param {Uint16Array} weights codes of one head, queries × keys
 * @param {number} keys
 * @param {string} scale "linear", "sqrt" or "row" (each row's largest weight = 1)
 */
function tones(weights, keys, scale) {
  const result = new Float32Array(weights.length);
  for (let start = 0; start < weights.length; start += keys) {
    let top = FULL_WEIGHT;
    if (scale === "row") {
      top = 1;
      for (let key = 0; key < keys; key += 1) top = Math.max(top, weights[start + key]);
    }
    for (let key = 0; key < keys; key += 1) {
      const share = weights[start + key] / top;
      result[start + key] = scale === "sqrt" ? Math.sqrt(share) : share;
    }
  }
  return result;
}

/** Where the colour bar's marks stand and what they say: [[tone, text], …]. */
function scaleMarks(scale, largest) {
  if (scale === "row") return [[0, "0"], [0.5, "½"], [1, "max"]];
  const weights = scale === "sqrt" ? [0, 0.05, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  return weights.map((weight) => [
    scale === "sqrt" ? Math.sqrt(weight) : weight,
    String(Number((weight * largest).toPrecision(2))),
  ]);
}
