import { readEnvelope } from "../../page/js/envelope.ts";

export type Unit = "pieces" | "words";

type Matrix = { weights: Uint16Array; masked: Uint8Array }; // codes of one head, row by row

/** The weights of a large trace that are here, by name. */
export interface LoadedHeads {
  has: (name: string) => boolean;
  get: (name: string) => Matrix; // throws where it is not here
  add: (name: string, bytes: Uint8Array, shape: MatrixShape) => void;
}

type MatrixShape = { queries: number; keys: number; scale: number }; // `scale`: of the site

const MOST_BYTES = 96 * 2 ** 20;
const LEAST = 2; // a head in pieces and in words, which are both needed at once

/** The heads of a large trace, the least recently used dropped where they take too much memory. */
export function createLoadedHeads(): LoadedHeads {
  const heads: Map<string, Matrix> = new Map(); // the last used last
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

/** The codes of a head in the format of `player/weights.py`. */
export function readMatrix(bytes: Uint8Array, { queries, keys, scale }: MatrixShape): Matrix {
  const { header, array } = readEnvelope<{ packed: boolean; scale: number }>(bytes);
  const [low, high] = ["low", "high"].map((name) => array(name) as Uint8Array);
  const masked = (array("closed") ?? new Uint8Array(queries * keys)) as Uint8Array;
  const weights = new Uint16Array(queries * keys);
  const share = header.scale / scale; // 1, unless a weight exceeds 1
  for (let cell = 0, from = 0; cell < weights.length; cell += 1) {
    if (header.packed && masked[cell] !== 0) continue;
    weights[cell] = low[from] | (high[from] << 8);
    from += 1;
  }
  if (share !== 1)
    weights.forEach((code, cell) => {
      weights[cell] = Math.round(code * share);
    });
  return { weights, masked };
}
