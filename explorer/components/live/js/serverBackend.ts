/** The app's server, which traces what the page asks for. */

import { ModelError } from "../../browser_model/js/modelError.ts";
import { readTrace } from "../../trace/js/trace.ts";
import { serverBytes } from "../../trace/js/traceQuestions.ts";
import type { Backend } from "./backend.ts";
import type { Questions } from "./modelWorker.ts";
import { ServerError, statusError } from "./serverError.ts";

type Question = Questions["trace"];

type Bytes = Uint8Array<ArrayBuffer>;

const PAUSE = 100; // ms without a key before a text is traced ahead
const LONGEST = 500; // ms that a trace may take which nobody has asked for yet
const REFUSAL = "application/json"; // type of an answer that says why a text has no trace

/** Where the server traces, and for whom; read whenever it is asked, since both may change. */
export interface TracingServer {
  server: string; // address of the route, relative to the page
  visitor: string; // names the person's own models to it
}

export function serverBackend(data: Readonly<TracingServer>): Backend {
  const answered: Set<string> = new Set(); // models
  const pace: Map<string, number> = new Map(); // least milliseconds a character, by model
  const last: Map<string, number> = new Map(); // seconds that the last text took, by model
  let ahead: { key: string; answer: Promise<Bytes> } | null = null; // of a text that is not sent yet
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = async (question: Question): Promise<Bytes> => {
    const start = performance.now();
    const { model, text } = question.request;
    const answer = await fetch(new URL(data.server, document.baseURI), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Visitor": data.visitor },
      body: bodyOf(question),
    }).catch(away);
    if (!answer.ok) throw statusError(answer.status, model);
    if (answer.headers.get("Content-Type") === REFUSAL) {
      const { key, facts, opened } = await answer.json().catch(away);
      if (opened) answered.add(model);
      throw new ModelError(key, facts);
    }
    const bytes = new Uint8Array(await answer.arrayBuffer().catch(away));
    answered.add(model);
    const spent = performance.now() - start;
    last.set(model, spent / 1000);
    pace.set(
      model,
      Math.min(spent / Math.max(1, text.length), pace.get(model) ?? Number.POSITIVE_INFINITY),
    );
    return bytes;
  };
  /** Ask for a text that is not sent yet, one at a time: a server traces two texts at a time. */
  const askAhead = async (question: Question, own: typeof timer) => {
    await ahead?.answer.catch(() => {});
    const key = bodyOf(question);
    if (timer !== own || ahead?.key === key) return;
    ahead = { key, answer: ask(question) };
    ahead.answer.catch(() => {}); // who sends the text is told
  };
  return {
    has: (model) => answered.has(model),
    progress: () => null,
    took: (model) => last.get(model) ?? null,
    trace: async (question, { wanted }) => {
      clearTimeout(timer);
      timer = undefined;
      const answer = ahead?.key === bodyOf(question) ? ahead.answer : ask(question);
      ahead = null;
      const bytes = await answer;
      if (!wanted()) return null;
      const fetchAnswer = (name: string, place: string) => {
        const { resources } = readTrace(bytes).header;
        return serverBytes(
          new URL(`${resources?.address}/${name}/${place}`, document.baseURI),
          null,
          () => ask(question).catch(() => {}), // which makes the trace anew
          question.shown.language,
        ) as Promise<Bytes>;
      };
      return { bytes, check: null, fetch: fetchAnswer };
    },
    traceAhead: async (question) => {
      clearTimeout(timer);
      const { model, text } = question.request;
      if (text.length * (pace.get(model) ?? Number.POSITIVE_INFINITY) > LONGEST) return;
      const own = setTimeout(() => askAhead(question, own), PAUSE);
      timer = own;
    },
  };
}

/** The connection is lost, or nobody answers. */
function away(): never {
  throw new ServerError("server_away");
}

/** What the route reads, `explore_route.Asked`. */
function bodyOf({ request, view, shown }: Question) {
  return JSON.stringify({ ...request, view, language: shown.language });
}
