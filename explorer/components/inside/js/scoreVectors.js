import { readEnvelope } from "../../shared/js/envelope.js";

/**
 * @typedef {object} ScoreVectors what the queries and keys of a head are summed of
 * @property {string[]} queryParts
 * @property {string[]} keyParts
 * @property {number} width
 * @property {number} scale by which products are multiplied
 * @property {Float32Array} queries part × query × width
 * @property {Float32Array} keys part × key × width
 *
 * @typedef {object} ScorePart one summand of the score of a cell
 * @property {string} query part of the query
 * @property {string} key part of the key
 * @property {number} value
 * @property {number} mean of this part over the unmasked keys of the row
 */

/**
 * The vectors in the format of `inside/payload.py`, `score_vectors`.
 * @param {Uint8Array} bytes
 * @returns {ScoreVectors}
 */
export function readScoreVectors(bytes) {
  const { header, array } =
    /** @type {ReturnType<typeof readEnvelope<{query_parts: string[], key_parts: string[], width: number, scale: number}>>} */ (
      readEnvelope(bytes)
    );
  const [queries, keys] = ["queries", "keys"].map(
    (name) => /** @type {Float32Array | null} */ (array(name)),
  );
  if (!queries || !keys) throw new Error("no vectors");
  const { query_parts: queryParts, key_parts: keyParts, width, scale } = header;
  return { queryParts, keyParts, width, scale, queries, keys };
}

/**
 * The summands of the score of a cell: each part of the query times each part of the key.
 * @param {ScoreVectors} found
 * @param {ArrayLike<number>} masked codes of the row, 0 = unmasked
 * @param {number} query
 * @param {number} key
 * @returns {ScorePart[]}
 */
export function scorePartsOf(found, masked, query, key) {
  const { queryParts, keyParts, width, scale, queries, keys } = found;
  const counts = [queries.length / queryParts.length, keys.length / keyParts.length];
  const unmasked = Array.from({ length: counts[1] / width }, (_, at) => at).filter(
    (at) => !masked[at],
  );
  return queryParts.flatMap((queryPart, i) => {
    const asked = queries.subarray(i * counts[0] + query * width);
    return keyParts.map((keyPart, j) => {
      /** @param {number} at */
      const product = (at) => dot(asked, keys.subarray(j * counts[1] + at * width), width) * scale;
      const mean =
        unmasked.reduce((sum, at) => sum + product(at), 0) / Math.max(unmasked.length, 1);
      return { query: queryPart, key: keyPart, value: product(key), mean };
    });
  });
}

/**
 * @param {Float32Array} one
 * @param {Float32Array} other
 * @param {number} width
 */
function dot(one, other, width) {
  let sum = 0;
  for (let at = 0; at < width; at += 1) sum += one[at] * other[at];
  return sum;
}

/**
 * At most `most` summands: all, or the largest and the others as one, without names.
 * @param {ScorePart[]} parts
 * @param {number} most
 * @returns {ScorePart[]}
 */
export function largestParts(parts, most) {
  if (parts.length <= most) return parts;
  const sorted = [...parts].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
  const rest = sorted.slice(most - 1);
  /** @param {"value" | "mean"} name */
  const sum = (name) => rest.reduce((found, part) => found + part[name], 0);
  const others = { query: "", key: "", value: sum("value"), mean: sum("mean") };
  return [...sorted.slice(0, most - 1), others];
}
