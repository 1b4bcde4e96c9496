import { readEnvelope } from "../../shared/js/envelope.js";

/** @import { HeadVectors } from "./arithmetic.js" */

/**
 * The vectors in the format of `inside/payload.py`, `head_vectors`.
 * @param {Uint8Array} bytes
 * @returns {HeadVectors}
 */
export function readVectors(bytes) {
  const { header, array } =
    /** @type {ReturnType<typeof readEnvelope<{width: number, scale: number, cap: number | null}>>} */ (
      readEnvelope(bytes)
    );
  const names = ["queries", "keys", "values", "bias", "sink"];
  const [queries, keys, values, bias, sink] = names.map(
    (name) => /** @type {Float32Array | null} */ (array(name)),
  );
  if (!queries || !keys || !values) throw new Error("no vectors");
  const { width, scale, cap } = header;
  return { width, scale, cap, queries, keys, values, bias, sink };
}
