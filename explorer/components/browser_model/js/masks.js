/**
 * The masks of attention (§3.2.3 of "Attention Is All You Need"), 1 = may attend, and why a cell is
 * masked, in the codes of `explorer/core/mask_reasons.py`.
 *
 * @typedef {{rows: number, keys: number, allowed: Uint8Array}} Mask
 *   allowed (rows, keys), one row for all queries or one for each
 */

import { EDITED, LATER, PADDING, UNMASKED } from "../../shared/js/look.js";
import { ModelError } from "./modelError.js";
import { PAD } from "./vocabulary.js";

/**
 * Which of `tokens` may be attended to, in one row for all queries.
 * @param {readonly number[]} tokens
 * @returns {Mask}
 */
export function paddingMask(tokens) {
  const allowed = Uint8Array.from(tokens, (token) => (token === PAD ? 0 : 1));
  if (!allowed.includes(1)) throw new ModelError("masked_row", { query: 0 });
  return { rows: 1, keys: tokens.length, allowed };
}

/**
 * As `paddingMask`, and each query attends to itself and to earlier positions only.
 * @param {readonly number[]} tokens
 * @returns {Mask}
 */
export function causalMask(tokens) {
  const size = tokens.length;
  const { allowed: real } = paddingMask(tokens);
  const allowed = new Uint8Array(size * size);
  for (let query = 0; query < size; query++) {
    for (let key = 0; key <= query; key++) allowed[query * size + key] = real[key];
  }
  return { rows: size, keys: size, allowed };
}

/**
 * The code of the reason of each cell (query, key).
 * @param {Mask} mask
 * @param {number} queries
 * @param {readonly boolean[]} padding of the keys
 * @param {boolean} causal whether later positions are masked for being later
 */
export function reasonCodes(mask, queries, padding, causal) {
  const codes = new Uint8Array(queries * mask.keys);
  for (let query = 0; query < queries; query++) {
    const row = mask.rows === 1 ? 0 : query * mask.keys;
    for (let key = 0; key < mask.keys; key++) {
      const why = padding[key] ? PADDING : causal && key > query ? LATER : EDITED;
      codes[query * mask.keys + key] = mask.allowed[row + key] ? UNMASKED : why;
    }
  }
  return codes;
}
