/**
 * Multi-head attention (§3.2): softmax(Q Kᵀ / √K) V in each head (equation 1).
 *
 * Letters as in `transformer.ts`: T queries, L keys, H heads, K head width, D width.
 */

import { HeadVectors } from "./headVectors.ts";
import { type HookPoint, type HookPoints, hookPoint } from "./hookPoint.ts";
import type { Mask } from "./masks.ts";
import { dot, type Linear, linear, softmax } from "./matrices.ts";
import { ModelError } from "./modelError.ts";
import type { Weights } from "./weights.ts";

/** What self-attention and cross-attention have in common. */
class Attention {
  heads: number;
  outputProjection: Linear;
  mask: HookPoint;
  queryVectors: HookPoint;
  keyVectors: HookPoint;
  scores: HookPoint;
  pattern: HookPoint;
  values: HookPoint;
  headOutput: HookPoint;

  constructor(weights: Weights, path: string, heads: number, points: HookPoints) {
    this.heads = heads;
    this.outputProjection = weights.parameters(`${path}.output`);
    this.mask = hookPoint(points, `${path}.mask`); // (H, T, L)
    this.queryVectors = hookPoint(points, `${path}.query_vectors`); // (H, T, K)
    this.keyVectors = hookPoint(points, `${path}.key_vectors`); // (H, L, K)
    this.scores = hookPoint(points, `${path}.scores`); // (H, T, L), scaled, before the mask
    this.pattern = hookPoint(points, `${path}.pattern`); // (H, T, L), after softmax
    this.values = hookPoint(points, `${path}.values`); // (H, L, K)
    this.headOutput = hookPoint(points, `${path}.head_output`); // (H, T, K)
  }

  /**
   * Queries (H, T, K) mix values (H, L, K) by their keys: (T, D).
   * @param mask null where all keys may be attended to
   */
  attend(query: HeadVectors, key: HeadVectors, value: HeadVectors, mask: Mask | null) {
    const { heads, width, length: queries } = query;
    this.queryVectors.see(query.values, heads, queries, width);
    const keys = this.keyVectors.watched ? key.filled() : key;
    this.keyVectors.see(keys.values, heads, keys.length, width);
    const weights = this.scores.see(scaledProducts(query, keys), heads, queries, keys.length);
    this.excludeMasked(weights, queries, keys.length, mask);
    for (let row = 0; row < heads * queries; row++) {
      softmax(weights, row * keys.length, keys.length);
    }
    this.pattern.see(weights, heads, queries, keys.length);
    const values = this.values.watched ? value.filled() : value;
    this.values.see(values.values, heads, values.length, width);
    const mixed = mix(weights, queries, values);
    this.headOutput.see(mixed.values, heads, queries, width);
    return linear(mixed.joined(), queries, this.outputProjection); // (T, D)
  }

  /** Make the scores (H, T, L) of masked cells −∞. */
  excludeMasked(scores: Float32Array, queries: number, keys: number, mask: Mask | null) {
    if (!mask && !this.mask.watched) return;
    const rows = this.heads * queries;
    const allowed = new Uint8Array(rows * keys).fill(1);
    for (let row = 0; mask && row < rows; row++) {
      const from = mask.rows === 1 ? 0 : (row % queries) * keys;
      allowed.set(mask.allowed.subarray(from, from + keys), row * keys);
    }
    this.mask.see(allowed, this.heads, queries, keys);
    for (let row = 0; row < rows; row++) {
      let any = 0;
      for (let key = 0; key < keys; key++) {
        if (allowed[row * keys + key]) any = 1;
        else scores[row * keys + key] = -Infinity;
      }
      if (!any) throw new ModelError("masked_row", { query: row % queries });
    }
  }
}

/** Queries, keys and values all come from one sequence. */
export class SelfAttention extends Attention {
  queryKeyValue: Linear;

  constructor(weights: Weights, path: string, heads: number, points: HookPoints) {
    super(weights, path, heads, points);
    this.queryKeyValue = weights.parameters(`${path}.query_key_value`);
  }

  /** `x` (T, D) attends to itself where `mask` allows. */
  forward(x: Float32Array, rows: number, mask: Mask) {
    const projected = linear(x, rows, this.queryKeyValue); // (T, 3 · D)
    const [query, key, value] = [0, 1, 2].map((part) =>
      HeadVectors.split(projected, rows, this.heads, 3, part),
    );
    return this.attend(query, key, value, mask);
  }

  /** One new token (1, D) attends to itself and to those in `cache`, and is added there. */
  step(x: Float32Array, { keys, values }: { keys: HeadVectors; values: HeadVectors }) {
    const projected = linear(x, 1, this.queryKeyValue); // (1, 3 · D)
    keys.append(projected, 1, 3, 1);
    values.append(projected, 1, 3, 2);
    return this.attend(HeadVectors.split(projected, 1, this.heads, 3, 0), keys, values, null);
  }
}

/** Queries come from the target; keys and values from the encoded source, the memory. */
export class CrossAttention extends Attention {
  query: Linear;
  keyValue: Linear;

  constructor(weights: Weights, path: string, heads: number, points: HookPoints) {
    super(weights, path, heads, points);
    this.query = weights.parameters(`${path}.query`);
    this.keyValue = weights.parameters(`${path}.key_value`);
  }

  /** Keys and values of `memory` (S, D), each (H, S, K). */
  project(memory: Float32Array, rows: number) {
    const projected = linear(memory, rows, this.keyValue); // (S, 2 · D)
    return {
      keys: HeadVectors.split(projected, rows, this.heads, 2, 0),
      values: HeadVectors.split(projected, rows, this.heads, 2, 1),
    };
  }

  /** `x` (T, D) attends to the keys and values of `project`, where `mask` allows. */
  forward(
    x: Float32Array,
    rows: number,
    memory: { keys: HeadVectors; values: HeadVectors },
    mask: Mask,
  ) {
    const query = HeadVectors.split(linear(x, rows, this.query), rows, this.heads, 1, 0);
    return this.attend(query, memory.keys, memory.values, mask);
  }
}

/** Q Kᵀ / √K in each head: (H, T, L). */
function scaledProducts(query: HeadVectors, key: HeadVectors) {
  const { heads, width, length: queries } = query;
  const scores = new Float32Array(heads * queries * key.length);
  const root = Math.sqrt(width);
  let place = 0;
  for (let head = 0; head < heads; head++) {
    const first = head * key.capacity * width;
    for (let row = 0; row < queries; row++) {
      const start = (head * query.capacity + row) * width;
      for (let column = 0; column < key.length; column++) {
        const product = dot(query.values, start, key.values, first + column * width, width);
        scores[place++] = product / root;
      }
    }
  }
  return scores;
}

/** The values (H, L, K) added up by weights (H, T, L): (H, T, K). */
function mix(weights: Float32Array, queries: number, value: HeadVectors) {
  const { heads, width, length: keys } = value;
  const mixed = new HeadVectors(heads, width, queries, queries);
  const sums = new Float64Array(width);
  for (let row = 0; row < heads * queries; row++) {
    const first = Math.floor(row / queries) * value.capacity * width;
    sums.fill(0);
    for (let key = 0; key < keys; key++) {
      const weight = weights[row * keys + key];
      const from = first + key * width;
      for (let index = 0; index < width; index++)
        sums[index] += weight * value.values[from + index];
    }
    mixed.values.set(sums, row * width);
  }
  return mixed;
}
