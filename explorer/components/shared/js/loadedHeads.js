import { readEnvelope } from "./envelope.js";

/**
 * @typedef {"pieces" | "words"} Unit
 * @typedef {{weights: Uint16Array, masked: Uint8Array}} Matrix codes of one head, row by row
 *
 * @typedef {object} LoadedHeads the weights of a large trace that are here, by name
 * @property {(name: string) => boolean} has
 * @property {(name: string) => Matrix} get throws where it is not here
 * @property {(name: string, bytes: Uint8Array, shape: MatrixShape) => void} add
 *
 * @typedef {{queries: number, keys: number, scale: number}} MatrixShape `scale`: of the site
 */

const MOST_BYTES = 96 * 2 ** 20;
const LEAST = 2; // a head in pieces and in words, which are both needed at once

/**
 * The heads of a large trace, the least recently used dropped where they take too much memory.
 * @returns {LoadedHeads}
 */
export function createLoadedHeads() {
  /** @type {Map<string, Matrix>} the last used last */
  const heads = new Map();
  const drop = () => {
    let size = 0;
    for (const { weights, masked } of heads.values()) size += weights.byteLength + masked.length;
    for (const [name, { weights, masked }] of heads) {
      if (size <= MOST_BYTES || heads.size <= LEAST) return;
      heads.delete(name);
      size -= weights.byteLength + masked.length;
    }
  };
  return {
    has: (name) => heads.has(name),
    get: (name) => {
      const found = heads.get(name);
      if (!found) throw new Error(`no weights of ${name}`);
      heads.delete(name);
      heads.set(name, found);
      return found;
    },
    add: (name, bytes, shape) => {
      heads.delete(name);
      heads.set(name, readMatrix(bytes, shape));
      drop();
    },
  };
}

/**
 * The codes of a head in the format of `player/weights.py`.
 * @param {Uint8Array} bytes
 * @param {MatrixShape} shape
 * @returns {Matrix}
 */
export function readMatrix(bytes, { queries, keys, scale }) {
  const { header, array } =
    /** @type {ReturnType<typeof readEnvelope<{packed: boolean, scale: number}>>} */ (
      readEnvelope(bytes)
    );
  const [low, high] = ["low", "high"].map((name) => /** @type {Uint8Array} */ (array(name)));
  const masked = /** @type {Uint8Array} */ (array("closed") ?? new Uint8Array(queries * keys));
  const weights = new Uint16Array(queries * keys);
  const share = header.scale / scale; // 1, unless a weight exceeds 1
  for (let cell = 0, from = 0; cell < weights.length; cell += 1) {
    if (header.packed && masked[cell] !== 0) continue;
    weights[cell] = Math.round((low[from] | (high[from] << 8)) * share);
    from += 1;
  }
  return { weights, masked };
}
