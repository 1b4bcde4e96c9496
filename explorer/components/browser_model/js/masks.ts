/**
 * The masks of attention (§3.2.3 of "Attention Is All You Need"), 1 = may attend, and why a cell is
 * masked, in the codes of `explorer/core/mask_reasons.py`.
 */

import { EDITED, LATER, PADDING, UNMASKED } from "../../trace/js/look.ts";
import { ModelError } from "./modelError.ts";
import { PAD } from "./vocabulary.ts";

/** Allowed (rows, keys), one row for all queries or one for each. */
export type Mask = { rows: number; keys: number; allowed: Uint8Array };

/**
 * Which of `tokens` may be attended to, in one row for all queries. The empty source of a decoder
 * alone has no rows.
 */
export function paddingMask(tokens: readonly number[]): Mask {
  const allowed = Uint8Array.from(tokens, (token) => (token === PAD ? 0 : 1));
  if (tokens.length && !allowed.includes(1)) throw new ModelError("masked_row", { query: 0 });
  return { rows: 1, keys: tokens.length, allowed };
}

/** As `paddingMask`, and each query attends to itself and to earlier positions only. */
export function causalMask(tokens: readonly number[]): Mask {
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
 * @param padding of the keys
 * @param causal whether later positions are masked for being later
 */
export function reasonCodes(
  mask: Mask,
  queries: number,
  padding: readonly boolean[],
  causal: boolean,
) {
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
