import { readEnvelope } from "../../page/js/envelope.ts";
import type { HeadVectors } from "./arithmetic.ts";

/** The vectors in the format of `inside/payload.py`, `head_vectors`. */
export function readVectors(bytes: Uint8Array): HeadVectors {
  const { header, array } = readEnvelope<{ width: number; scale: number; cap: number | null }>(
    bytes,
  );
  const names = ["queries", "keys", "values", "bias", "sink"];
  const [queries, keys, values, bias, sink] = names.map(
    (name) => array(name) as Float32Array | null,
  );
  if (!queries || !keys || !values) throw new Error("no vectors");
  const { width, scale, cap } = header;
  return { width, scale, cap, queries, keys, values, bias, sink };
}
