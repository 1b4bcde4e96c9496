/** @import { Trace } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {object} Offer what can be asked about a trace besides its payload, by names of
 *   `components/trace_questions.py`
 * @property {string} address below which the server answers, relative to the page; "" without one
 * @property {string[]} names
 *
 * @typedef {object} ServerlessResources the answers of a page without a server
 * @property {string[] | null} held "NAME/PLACE" of those in a saved page; null where the page computes
 *   them
 * @property {(name: string, place: string) => Promise<Uint8Array>} fetch
 *
 * @typedef {Pick<TraceContext, "options" | "pieces" | "signal">} Asking who asks, about which trace
 */

/**
 * @template {object} Answer
 * @typedef {(place: string) => Answer | "loading" | "failed"} Find an answer, which is fetched when it
 *   is asked for first
 */

const PAUSES = [300, 1000, 3000]; // ms before each further try
const MOST = 64; // answers kept at a time
const RETRY_AFTER = 5000; // ms after a failure, when it is asked for again

/**
 * Whether something can be asked about the trace on screen.
 * @param {{pieces: Pick<Trace, "header">}} context
 * @param {string} name
 */
export function offers({ pieces }, name) {
  return pieces.header.resources?.names.includes(name) ?? false;
}

/**
 * Whether an answer is there: a server and a model have every one, a saved page a part.
 * @param {Pick<TraceContext, "options">} context
 * @param {string} name
 * @param {string} place
 */
export function holds({ options }, name, place) {
  return options.resources?.held?.includes(`${name}/${place}`) ?? true;
}

/**
 * The answer to a question about a trace: from the server or, where there is none, from the page.
 * @param {Asking} asking
 * @param {string} name
 * @param {string} place
 * @returns {Promise<Uint8Array>}
 */
export function fetchAnswer({ options, pieces, signal }, name, place) {
  if (options.resources) return options.resources.fetch(name, place);
  const path = `${pieces.header.resources?.address}/${name}/${place}`;
  const address = new URL(path, document.baseURI);
  return serverBytes(address, signal, () => options.onMissing?.());
}

/**
 * Fetch an answer from the server, again where it is busy or the trace is made anew.
 * @param {URL} address
 * @param {AbortSignal | null} signal
 * @param {() => void} onMissing called when the server has dropped the trace, to make it anew
 * @returns {Promise<Uint8Array>}
 */
export async function serverBytes(address, signal, onMissing) {
  for (const pause of [...PAUSES, 0]) {
    const answer = await fetch(address, { signal });
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    if (answer.status === 404) onMissing();
    if (!pause) break;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`nothing at ${address.pathname}`);
}

/**
 * The answers to one question about the traces on screen, fetched when somebody looks there.
 * @template {object} Answer
 * @param {TraceContext} context
 * @param {string} name
 * @param {(bytes: Uint8Array) => Answer} read
 * @returns {Find<Answer>} "vectors" is touched when an answer has come
 */
export function createLoading(context, name, read) {
  /** @type {Map<string, Answer | "loading" | "failed">} by trace and place */
  let answers = new Map();
  let { resources: source } = context.options; // without a server, one for each trace
  /** @param {string} key @param {string} place */
  const request = async (key, place) => {
    const own = answers;
    if (own.size >= MOST) own.clear();
    own.set(key, "loading");
    try {
      own.set(key, read(await fetchAnswer(context, name, place)));
    } catch {
      if (context.signal.aborted) return;
      own.set(key, "failed");
      setTimeout(() => own.delete(key), RETRY_AFTER);
    }
    context.touch("vectors");
  };
  return (place) => {
    if (context.options.resources !== source) {
      source = context.options.resources;
      answers = new Map();
    }
    const key = `${context.pieces.header.resources?.address}/${place}`;
    if (!answers.has(key)) request(key, place);
    return answers.get(key) ?? "loading";
  };
}
