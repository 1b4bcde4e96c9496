import { readEnvelope } from "../../shared/js/envelope.js";

/**
 * @typedef {object} LeftOut a head of a model without one of its parts, in the format of `inside/left_out.py`
 * @property {string[]} queries labels
 * @property {string[]} keys
 * @property {string} text what is decoded
 * @property {Float32Array} weights query × key
 * @property {Uint8Array} masked codes, query × key
 */

/**
 * @param {Uint8Array} bytes
 * @returns {LeftOut}
 */
export function readLeftOut(bytes) {
  const { header, array } =
    /** @type {ReturnType<typeof readEnvelope<{queries: string[], keys: string[], text: string}>>} */ (
      readEnvelope(bytes)
    );
  const weights = /** @type {Float32Array | null} */ (array("weights"));
  const masked = /** @type {Uint8Array | null} */ (array("masked"));
  if (!weights || !masked) throw new Error("no weights");
  const { queries, keys, text } = header;
  return { queries, keys, text, weights, masked };
}
