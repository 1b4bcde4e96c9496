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
 * @param {TraceContext} context
 * @param {string} address
 */
function bytesAt({ options, signal }, address) {
  if (options.inside) return options.inside.fetch(nameIn(address));
  return serverBytes(address, signal, () => options.onMissing?.());
}

/**
 * The name in an exported page of what is at an address.
 * @param {string} address
 */
function nameIn(address) {
  return address.slice(address.indexOf("/") + 1);
}

/**
 * Whether what is at an address is there: the server has everything, an exported page a part.
 * @param {TraceContext} context
 * @param {string} address
 */
export function isThere({ options }, address) {
  return options.inside?.held?.includes(nameIn(address)) ?? true;
}

/**
 * What is inside heads and layers, fetched from the server when somebody looks there.
 * @template {object} Answer
 * @param {TraceContext} context
 * @param {(bytes: Uint8Array) => Answer} read
 * @returns {Find<Answer>} "vectors" is touched when an answer has come
 */
export function createLoading(context, read) {
  /** @type {Map<string, Answer | "loading" | "failed">} by address */
  let answers = new Map();
  let { inside: source } = context.options; // of a page without a server, where all traces have one address
  /** @param {string} address */
  const request = async (address) => {
    const own = answers;
    if (own.size >= MOST) own.clear();
    own.set(address, "loading");
    try {
      const bytes = await bytesAt(context, address);
      own.set(address, read(bytes));
    } catch {
      if (context.signal.aborted) return;
      own.set(address, "failed");
      setTimeout(() => own.delete(address), RETRY_AFTER);
    }
    context.touch("vectors");
  };
  return (address) => {
    if (context.options.inside !== source) {
      source = context.options.inside;
      answers = new Map();
    }
    if (!answers.has(address)) request(address);
    return answers.get(address) ?? "loading";
  };
}
