import { FULL_WEIGHT } from "./look.ts";
import type { Site, Trace } from "./trace.ts";

/** The attention whose weights are compared with the gold alignment: a decoder alone has one. */
export function goldSite(trace: Trace) {
  return trace.source.length ? "cross" : "decoder";
}

/** Whether the gold alignment links row `row` of an attention to position `key`. */
export function isGold(trace: Trace, site: Site, row: number, key: number) {
  if (!trace.gold || site.name !== goldSite(trace)) return false;
  const bit = row * site.keys + key;
  return ((trace.gold[bit >> 3] >> (bit & 7)) & 1) === 1;
}

/**
 * Mean weight on the gold positions, over the rows that have one.
 * @returns null where no row has one
 */
export function goldWeight(trace: Trace, site: Site, layer: number, head: number): number | null {
  if (trace.heads) return site.gold?.[layer]?.[head] ?? null;
  const weights = site.weights(layer, head);
  let [sum, rows] = [0, 0];
  for (let row = 0; row < site.queries; row += 1) {
    let known = false;
    for (let key = 0; key < site.keys; key += 1) {
      if (!isGold(trace, site, row, key)) continue;
      known = true;
      sum += (weights[row * site.keys + key] / FULL_WEIGHT) * site.scale;
    }
    rows += known ? 1 : 0;
  }
  return rows ? sum / rows : null;
}

/**
 * How well a cross head aligns source and output where no gold alignment is known: over the
 * content tokens of the source, the mean of the largest weight that a row which predicts content
 * puts on them. Low for a head that spreads its weight, and for one that concentrates on the same
 * few tokens, because the other tokens then never get a large weight.
 * @returns null where the source has no content
 */
export function coverage(trace: Trace, site: Site, layer: number, head: number): number | null {
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

/**
 * The head to show first, which is not removed unless all are: the one with the best gold weight or,
 * where no gold alignment is known, the cross head with the best coverage; else the first.
 */
export function bestHead(trace: Trace, site: Site) {
  let best = { layer: 0, head: 0, score: -2 };
  if (trace.heads) return best; // that of a large trace is in its view
  const measure = trace.gold ? goldWeight : site.name === "cross" ? coverage : () => null;
  for (let layer = 0; layer < site.layers; layer += 1) {
    for (let head = 0; head < site.heads; head += 1) {
      if (site.removed(layer, head)) continue;
      const score = measure(trace, site, layer, head) ?? -1;
      if (score > best.score) best = { layer, head, score };
    }
  }
  return best;
}
