/** The models of a live page, in a worker, so that typing never waits for them. */

import { ExplorableModel, type ModelTrace } from "../../browser_model/js/explorableModel.ts";
import { type Check, integrityOf } from "../../browser_model/js/integrity.ts";
import { ModelError } from "../../browser_model/js/modelError.ts";
import { sha256 } from "../../browser_model/js/sha256.ts";
import { type PlayerSettings, tracePayload } from "../../browser_model/js/tracePayload.ts";
import { TraceAnswers } from "../../browser_model/js/traceQuestions.ts";
import { type InitialView, initialView, viewWithin } from "./initialView.ts";
import { isChanged, unchanged } from "./liveModel.ts";

/** As in the app. */
export interface LiveRequest {
  model: string;
  text: string;
  pad: number; // padding tokens added
  forced: [number, number][]; // (step, id)
  interventions: string[]; // lines
  pair: string | null; // the second text, "" without one; null of a model that reads none
  reading: Reading | null; // null of a model that is none of the library
}

/** How a model of the library reads a text, as `Reading` in Python. */
export interface Reading {
  source_language: string; // code; "" = the model's own choice
  target_language: string;
  chat: boolean; // whether the text is a user's message
}

/** What the page asks, by kind. */
export interface Questions {
  open: { name: string; data: Uint8Array<ArrayBuffer>; sha256: string }; // a file; the answer is null
  /**
   * the answer is a payload of the player without its sentences
   * and checks; opening: where `view` says nothing
   */
  trace: {
    request: LiveRequest;
    shown: Omit<PlayerSettings, "view" | "strings">;
    opening: InitialView;
    view: InitialView;
  };
  integrity: { request: LiveRequest };
  resource: { request: LiveRequest; name: string; place: string }; // the answer is a payload
}

export interface Answers {
  open: null;
  trace: Uint8Array<ArrayBuffer>;
  integrity: Check[];
  resource: Uint8Array<ArrayBuffer>;
}

export type Kind = keyof Questions;

/** To the page; text: what is decoded so far. */
export type Message = {
  id: number;
  answer?: Answers[Kind];
  text?: string;
  error?: { key: string; facts: Record<string, unknown> };
};

const TELL_EVERY = 50; // ms

const models: Map<string, ExplorableModel> = new Map();

let latest: { request: LiveRequest; trace: ModelTrace } | null = null; // that was asked for last

/** Answers about the text that was asked about last. */
let answered: { request: LiveRequest; answers: TraceAnswers } | null = null;

function modelCalled(name: string) {
  const model = models.get(name);
  if (!model) throw new Error(`${name} is not open`);
  return model;
}

/** What the model is asked; a prompt is not padded. */
function options(model: ExplorableModel, { text, pad, forced, interventions }: LiveRequest) {
  const { length } = model.read(text, undefined).source;
  const limit = model.checkpoint.transformer.config.max_length;
  const padTo = Math.min(length + pad, limit);
  const padded = pad && length ? { padTo } : {};
  return { force: Object.fromEntries(forced), interventions, ...padded };
}

/**
 * Tells of the tokens decoded so far, not more often than somebody reads: a message takes longer than
 * a step of a small model.
 */
function reporter(tell: (ids: number[]) => void) {
  let last = performance.now();
  return (ids: number[]) => {
    const now = performance.now();
    if (now - last < TELL_EVERY) return;
    last = now;
    tell(ids);
  };
}

function sameRequest(one: LiveRequest | undefined, other: LiveRequest) {
  return JSON.stringify(one) === JSON.stringify(other);
}

const ANSWERS: {
  [Name in Kind]: (question: Questions[Name], tell: (text: string) => void) => Answers[Name];
} = {
  open: ({ name, data, sha256: expected }) => {
    if (sha256(data) !== expected) throw new ModelError("damaged_checkpoint", { name });
    models.set(name, ExplorableModel.read(data, name));
    return null;
  },
  trace: ({ request, shown, opening, view: given }, tell) => {
    const model = modelCalled(request.model);
    const { targetVocabulary } = model.checkpoint;
    const onToken = reporter((ids) => tell(targetVocabulary.decode(ids)));
    const trace = model.trace(request.text, { ...options(model, request), onToken });
    const original = isChanged(request)
      ? model.trace(request.text, options(model, unchanged(request))).predictedTokens
      : [];
    const asked = { ...opening, ...viewWithin(trace, given) };
    const view = initialView(trace, asked, request.forced, original);
    latest = { request, trace };
    return tracePayload(trace, { ...shown, strings: {}, view }, null);
  },
  integrity: ({ request }) => {
    const model = modelCalled(request.model);
    const known = sameRequest(latest?.request, request) ? latest : null;
    return integrityOf(model, known?.trace ?? model.trace(request.text, options(model, request)));
  },
  resource: ({ request, name, place }) => {
    if (!answered || !sameRequest(answered.request, request)) {
      const model = modelCalled(request.model);
      const answers = new TraceAnswers(model, request.text, options(model, request));
      answered = { request, answers };
    }
    return answered.answers.answer(name, place);
  },
};

/** Where messages go; `self` is a worker's, whatever the library of types says of pages. */
const page = self as unknown as {
  postMessage: (message: Message, transfer: Transferable[]) => void;
};

self.addEventListener("message", ({ data: { id, kind, question } }) => {
  const tell = (text: string) => page.postMessage({ id, text }, []);
  try {
    const answer = ANSWERS[kind as Kind](question as never, tell);
    page.postMessage({ id, answer }, answer instanceof Uint8Array ? [answer.buffer] : []);
  } catch (error) {
    const known = error instanceof ModelError;
    const { key, facts } = known ? error : { key: "", facts: { problem: String(error) } };
    page.postMessage({ id, error: { key, facts } }, []);
  }
});
