/**
 * The models of a live page, in a worker, so that typing never waits for them.
 *
 * @import { ModelTrace } from "../../browser_model/js/explorableModel.js"
 * @import { Check } from "../../browser_model/js/integrity.js"
 * @import { Shown } from "../../browser_model/js/tracePayload.js"
 * @import { InitialView } from "./initialView.js"
 * @typedef {{model: string, text: string, pad: number, forced: [number, number][]}} LiveRequest as in
 *   the app: padding tokens added, and (step, id) of forced tokens
 * @typedef {object} Questions what the page asks, by kind
 * @property {{name: string, data: Uint8Array<ArrayBuffer>, sha256: string}} open a file; the answer is null
 * @property {{request: LiveRequest, shown: Omit<Shown, "view" | "strings">, opening: InitialView,
 *   view: InitialView}} trace the answer is a payload of the player without its sentences
 *   and checks; opening: where `view` says nothing
 * @property {{request: LiveRequest}} integrity
 * @property {{request: LiveRequest, name: string, place: string}} resource the answer is a payload
 * @typedef {object} Answers
 * @property {null} open
 * @property {Uint8Array<ArrayBuffer>} trace
 * @property {Check[]} integrity
 * @property {Uint8Array<ArrayBuffer>} resource
 * @typedef {keyof Questions} Kind
 * @typedef {{id: number, answer?: Answers[Kind], text?: string,
 *   error?: {key: string, facts: Record<string, unknown>}}} Message to the page; text: what is decoded
 *   so far
 */

import { ExplorableModel } from "../../browser_model/js/explorableModel.js";
import { integrityOf } from "../../browser_model/js/integrity.js";
import { ModelError } from "../../browser_model/js/modelError.js";
import { sha256 } from "../../browser_model/js/sha256.js";
import { tracePayload } from "../../browser_model/js/tracePayload.js";
import { TraceAnswers } from "../../browser_model/js/traceQuestions.js";
import { initialView, viewWithin } from "./initialView.js";

const TELL_EVERY = 50; // ms

/** @type {Map<string, ExplorableModel>} */
const models = new Map();

/** @type {{request: LiveRequest, trace: ModelTrace} | null} that was asked for last */
let latest = null;

/** @type {{request: LiveRequest, answers: TraceAnswers} | null} of the text asked about last */
let answered = null;

/** @param {string} name */
function modelCalled(name) {
  const model = models.get(name);
  if (!model) throw new Error(`${name} is not open`);
  return model;
}

/**
 * What the model is asked.
 * @param {ExplorableModel} model
 * @param {LiveRequest} request
 */
function options(model, { text, pad, forced }) {
  const length = model.source(text, undefined).length;
  const limit = model.checkpoint.transformer.config.max_length;
  const padTo = Math.min(length + pad, limit);
  return { force: Object.fromEntries(forced), ...(pad ? { padTo } : {}) };
}

/**
 * Tells of the tokens decoded so far, not more often than somebody reads: a message takes longer than
 * a step of a small model.
 * @param {(ids: number[]) => void} tell
 */
function reporter(tell) {
  let last = performance.now();
  return (/** @type {number[]} */ ids) => {
    const now = performance.now();
    if (now - last < TELL_EVERY) return;
    last = now;
    tell(ids);
  };
}

/**
 * @param {LiveRequest | undefined} one
 * @param {LiveRequest} other
 */
function sameRequest(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** @type {{[Name in Kind]: (question: Questions[Name], tell: (text: string) => void) =>
 *   Answers[Name]}} */
const ANSWERS = {
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
    const free = { ...request, forced: [] };
    const original = request.forced.length
      ? model.trace(request.text, options(model, free)).predictedTokens
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
const page = /** @type {{postMessage: (message: Message, transfer: Transferable[]) => void}} */ (
  /** @type {unknown} */ (self)
);

self.addEventListener("message", ({ data: { id, kind, question } }) => {
  /** @param {string} text */
  const tell = (text) => page.postMessage({ id, text }, []);
  try {
    const answer = ANSWERS[/** @type {Kind} */ (kind)](/** @type {never} */ (question), tell);
    page.postMessage({ id, answer }, answer instanceof Uint8Array ? [answer.buffer] : []);
  } catch (error) {
    const known = error instanceof ModelError;
    const { key, facts } = known ? error : { key: "", facts: { problem: String(error) } };
    page.postMessage({ id, error: { key, facts } }, []);
  }
});
