import { readEnvelope } from "../../shared/js/envelope.js";
import { serverBytes } from "../../shared/js/serverBytes.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadVectors } from "./arithmetic.js" */

const MOST_HEADS = 64; // kept at a time

/**
 * @typedef {object} VectorLoading the vectors of the head on screen
 * @property {() => HeadVectors | null} now null while they are on their way
 * @property {() => boolean} failed whether they could not be fetched
 * @property {() => void} request fetch them, unless they are here or on their way
 */

/**
 * Vectors of heads, fetched from the server when a head is looked into.
 * @param {TraceContext} context
 * @param {() => void} onArrival called when the vectors of the head on screen are here, or cannot be
 * @returns {VectorLoading}
 */
export function createVectorLoading(context, onArrival) {
  /** @type {Map<string, HeadVectors | "loading" | "failed">} by address */
  const heads = new Map();
  const address = () => {
    const { site, layer, head } = context.state;
    return `${context.pieces.header.inside}/${site}/${layer}/${head}`;
  };
  const request = async () => {
    const wanted = address();
    const known = heads.get(wanted);
    if (known && known !== "failed") return;
    if (heads.size >= MOST_HEADS) heads.clear();
    heads.set(wanted, "loading");
    try {
      const bytes = await serverBytes(wanted, context.signal, () => context.options.onMissing?.());
      heads.set(wanted, readVectors(bytes));
    } catch {
      if (context.signal.aborted) return;
      heads.set(wanted, "failed");
    }
    if (wanted === address()) onArrival();
  };
  return {
    now: () => {
      const found = heads.get(address());
      return typeof found === "object" ? found : null;
    },
    failed: () => heads.get(address()) === "failed",
    request,
  };
}

/**
 * The vectors in the format of `inside/head_vectors.py`.
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
