import { createStore } from "../../dom/js/store.ts";
import type { Trace } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";

/**
 * What can be asked about a trace besides its payload, by names of
 * `components/trace_questions.py`.
 */
export interface Offer {
  address: string; // below which the server answers, relative to the page; "" without one
  names: string[];
  methods?: string[]; // of contributions, that can be asked for
}

/** The answers of a page without a server. */
export interface ServerlessResources {
  held: string[] | null; // "NAME/PLACE" of those in a saved page; null where the page computes them
  fetch: (name: string, place: string) => Promise<Uint8Array>;
}

/** Who asks, about which trace. */
export type Asking = Pick<TraceContext, "options" | "pieces" | "signal">;

/** An answer, which is fetched when it is asked for first; or the sentence of why there is none. */
export type Find<Answer extends object> = (
  place: string,
) => Answer | Refusal | "loading" | "failed";

/** What the model does not allow, in a sentence of the server. */
export class Refusal extends Error {}

/** Whether what was found is an answer. */
export function isAnswer<Answer extends object>(
  found: Answer | Refusal | "loading" | "failed",
): found is Answer {
  return typeof found === "object" && !(found instanceof Refusal);
}

const REFUSED = 422; // status of the server's answer that is such a sentence

const PAUSES = [300, 1000, 3000]; // ms before each further try
const MOST = 64; // answers kept at a time
const RETRY_AFTER = 5000; // ms after a failure, when it is asked for again

/** Whether something can be asked about the trace on screen. */
export function offers({ pieces }: { pieces: Pick<Trace, "header"> }, name: string) {
  return pieces.header.resources?.names.includes(name) ?? false;
}

/** Whether contributions by a method can be asked for of the trace on screen. */
export function offersMethod({ pieces }: { pieces: Pick<Trace, "header"> }, method: string) {
  return pieces.header.resources?.methods?.includes(method) ?? false;
}

/** Whether an answer is there: a server and a model have every one, a saved page a part. */
export function holds({ options }: Pick<TraceContext, "options">, name: string, place: string) {
  return options.resources?.held?.includes(`${name}/${place}`) ?? true;
}

/**
 * The answer to a question about a trace: from the server or, where there is none, from the page.
 * Fails with a `Refusal` where the model does not allow it.
 */
export function fetchAnswer(
  { options, pieces, signal }: Asking,
  name: string,
  place: string,
): Promise<Uint8Array> {
  if (options.resources) return options.resources.fetch(name, place);
  const path = `${pieces.header.resources?.address}/${name}/${place}`;
  const address = new URL(path, document.baseURI);
  const { language } = pieces.header;
  return serverBytes(address, signal, () => options.onMissing?.(), language);
}

/**
 * Fetch an answer from the server, again where it is busy or the trace is made anew.
 * @param onMissing called when the server has dropped the trace, to make it anew
 * @param language of a sentence in place of an answer
 */
export async function serverBytes(
  address: URL,
  signal: AbortSignal | null,
  onMissing: () => void,
  language = "en",
): Promise<Uint8Array> {
  for (const pause of [...PAUSES, 0]) {
    const answer = await fetch(address, { signal, headers: { "Accept-Language": language } });
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    if (answer.status === REFUSED) throw new Refusal(await answer.text());
    if (answer.status === 404) onMissing();
    if (!pause) break;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`nothing at ${address.pathname}`);
}

/** The answers to one question about the traces on screen, fetched when somebody looks there. */
export function createLoading<Answer extends object>(
  context: TraceContext,
  name: string,
  read: (bytes: Uint8Array) => Answer,
): Find<Answer> {
  type Answers = Map<string, ReturnType<Find<Answer>>>; // by trace and place
  const nothing = () => ({ answers: new Map() as Answers });
  const { values, set } = createStore({ known: nothing() });
  let { resources: source } = context.options; // without a server, one for each trace
  const request = async (own: Answers, key: string, place: string) => {
    if (own.size >= MOST) own.clear();
    own.set(key, "loading");
    try {
      own.set(key, read(await fetchAnswer(context, name, place)));
    } catch (error) {
      if (context.signal.aborted) return;
      const refused = error instanceof Refusal;
      own.set(key, refused ? error : "failed");
      if (!refused) setTimeout(() => own.delete(key), RETRY_AFTER);
    }
    if (values.known.answers === own) set({ known: { answers: own } });
  };
  return (place) => {
    if (context.options.resources !== source) {
      source = context.options.resources;
      set({ known: nothing() });
    }
    const { answers } = values.known;
    const key = `${context.pieces.header.resources?.address}/${place}`;
    if (!answers.has(key)) request(answers, key, place);
    return answers.get(key) ?? "loading";
  };
}
