import { serverBytes } from "../../shared/js/serverBytes.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const MOST = 64; // answers kept at a time
const RETRY_AFTER = 5000; // ms after a failure, when it is asked for again

/**
 * @template {object} Answer
 * @typedef {(address: string) => Answer | "loading" | "failed"} Find what the server has at an
 *   address relative to the page; it is fetched when it is asked for first
 */

/**
 * What is inside heads and layers, fetched from the server when somebody looks there.
 * @template {object} Answer
 * @param {TraceContext} context
 * @param {(bytes: Uint8Array) => Answer} read
 * @returns {Find<Answer>} "vectors" is touched when an answer has come
 */
export function createLoading(context, read) {
  /** @type {Map<string, Answer | "loading" | "failed">} by address */
  const answers = new Map();
  /** @param {string} address */
  const request = async (address) => {
    if (answers.size >= MOST) answers.clear();
    answers.set(address, "loading");
    try {
      const bytes = await serverBytes(address, context.signal, () => context.options.onMissing?.());
      answers.set(address, read(bytes));
    } catch {
      if (context.signal.aborted) return;
      answers.set(address, "failed");
      setTimeout(() => answers.delete(address), RETRY_AFTER);
    }
    context.touch("vectors");
  };
  return (address) => {
    if (!answers.has(address)) request(address);
    return answers.get(address) ?? "loading";
  };
}
