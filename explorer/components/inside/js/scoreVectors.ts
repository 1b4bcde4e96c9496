import { readEnvelope } from "../../page/js/envelope.ts";

/** What the queries and keys of a head are summed of. */
export interface ScoreVectors {
  queryParts: string[];
  keyParts: string[];
  width: number;
  scale: number; // by which products are multiplied
  queries: Float32Array; // part × query × width
  keys: Float32Array; // part × key × width
  distance: Float32Array | null; // query × key, what the model adds by their distance
}

/** The part of the distance of query and key, which is no product. */
export const DISTANCE = "distance";

/** One summand of the score of a cell. */
export interface ScorePart {
  query: string; // part of the query
  key: string; // part of the key
  value: number;
  mean: number; // of this part over the unmasked keys of the row
}

/** The vectors in the format of `inside/payload.py`, `score_vectors`. */
export function readScoreVectors(bytes: Uint8Array): ScoreVectors {
  const { header, array } = readEnvelope<{
    query_parts: string[];
    key_parts: string[];
    width: number;
    scale: number;
  }>(bytes);
  const [queries, keys] = ["queries", "keys"].map((name) => array(name) as Float32Array | null);
  if (!queries || !keys) throw new Error("no vectors");
  const { query_parts: queryParts, key_parts: keyParts, width, scale } = header;
  const distance = array("distance") as Float32Array | null;
  return { queryParts, keyParts, width, scale, queries, keys, distance };
}

/**
 * The summands of the score of a cell: each part of the query times each part of the key, and what is
 * added to them.
 * @param masked codes of the row, 0 = unmasked
 */
export function scorePartsOf(
  found: ScoreVectors,
  masked: ArrayLike<number>,
  query: number,
  key: number,
): ScorePart[] {
  const { queryParts, keyParts, width, scale, queries, keys, distance } = found;
  const counts = [queries.length / queryParts.length, keys.length / keyParts.length];
  const unmasked = Array.from({ length: counts[1] / width }, (_, at) => at).filter(
    (at) => !masked[at],
  );
  const mean = (of: (at: number) => number) =>
    unmasked.reduce((sum, at) => sum + of(at), 0) / Math.max(unmasked.length, 1);
  const products = queryParts.flatMap((queryPart, i) => {
    const asked = queries.subarray(i * counts[0] + query * width);
    return keyParts.map((keyPart, j) => {
      const product = (at: number) =>
        dot(asked, keys.subarray(j * counts[1] + at * width), width) * scale;
      return { query: queryPart, key: keyPart, value: product(key), mean: mean(product) };
    });
  });
  if (!distance) return products;
  const row = distance.subarray((query * counts[1]) / width);
  const added = { query: DISTANCE, key: DISTANCE, value: row[key], mean: mean((at) => row[at]) };
  return [...products, added];
}

function dot(one: Float32Array, other: Float32Array, width: number) {
  let sum = 0;
  for (let at = 0; at < width; at += 1) sum += one[at] * other[at];
  return sum;
}

/** At most `most` summands: all, or the largest and the others as one, without names. */
export function largestParts(parts: ScorePart[], most: number): ScorePart[] {
  if (parts.length <= most) return parts;
  const sorted = [...parts].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
  const rest = sorted.slice(most - 1);
  const sum = (name: "value" | "mean") => rest.reduce((found, part) => found + part[name], 0);
  const others = { query: "", key: "", value: sum("value"), mean: sum("mean") };
  return [...sorted.slice(0, most - 1), others];
}
