import { serverBytes } from "../../shared/js/serverBytes.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const MOST = 64; // answers kept at a time

/**
 * @template Answer
 * @typedef {object} Loading what the server captures of the head or layer on screen
 * @property {() => Answer | null} now null while it is on its way
 * @property {() => boolean} failed whether it could not be fetched
 * @property {() => void} request fetch it, unless it is here or on its way
 */

/**
 * What is inside the head or layer on screen, fetched from the server when somebody looks there.
 * @template {object} Answer
 * @param {TraceContext} context
 * @param {() => string} address of what is on screen, relative to the page
 * @param {(bytes: Uint8Array) => Answer} read
 * @param {() => void} onArrival called when what is on screen is here, or cannot be
 * @returns {Loading<Answer>}
 */
export function createLoading(context, address, read, onArrival) {
  /** @type {Map<string, Answer | "loading" | "failed">} by address */
  const answers = new Map();
  const request = async () => {
    const wanted = address();
    const known = answers.get(wanted);
    if (known && known !== "failed") return;
    if (answers.size >= MOST) answers.clear();
    answers.set(wanted, "loading");
    try {
      const bytes = await serverBytes(wanted, context.signal, () => context.options.onMissing?.());
      answers.set(wanted, read(bytes));
    } catch {
      if (context.signal.aborted) return;
      answers.set(wanted, "failed");
    }
    if (wanted === address()) onArrival();
  };
  return {
    now: () => {
      const found = answers.get(address());
      return typeof found === "object" ? found : null;
    },
    failed: () => answers.get(address()) === "failed",
    request,
  };
}
