/**
 * Answers questions about a checkpoint for `tests/support/browser_model.py`: one JSON object a
 * line on the standard input, one payload on the standard output, after its length.
 *
 *     node browserModelServer.mjs CHECKPOINT
 */

import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { ExplorableModel } from "../../../explorer/components/browser_model/js/explorableModel.js";
import { integrityOf } from "../../../explorer/components/browser_model/js/integrity.js";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.js";
import { sha256 } from "../../../explorer/components/browser_model/js/sha256.js";
import { tracePayload } from "../../../explorer/components/browser_model/js/tracePayload.js";
import { TraceAnswers } from "../../../explorer/components/browser_model/js/traceQuestions.js";
import {
  grouped,
  marksWords,
} from "../../../explorer/components/browser_model/js/wordSegmentation.js";
import { packPayload } from "./payloads.mjs";

const path = process.argv[2];

/** @type {TraceAnswers | null} of the text that was asked about last */
let answers = null;

/** @type {Record<string, (asked: any, model: ExplorableModel) => Uint8Array>} */
const ANSWERS = {
  read: () => packPayload({}, {}),
  trace: ({ text, request }, model) => traced(model, text, request),
  payload: ({ text, request, shown }, model) => payloadOf(model, model.trace(text, request), shown),
  tampered: ({ text, shown }, model) => {
    const trace = model.trace(text);
    trace.arrays["cross.attention"].values[0] += 1e-3;
    return payloadOf(model, trace, shown);
  },
  resource: ({ text, name, place }, model) => {
    if (!answers || answers.text !== text) answers = new TraceAnswers(model, text, {});
    return answers.answer(name, place);
  },
  words: ({ rows }) =>
    packPayload({ words: rows.map((/** @type {string[]} */ row) => wordsIn(row)) }, {}),
  sha256: ({ bytes }) => packPayload({ digest: sha256(Uint8Array.from(bytes)) }, {}),
  encode: ({ texts }, { checkpoint: { sourceVocabulary } }) =>
    packPayload(
      { ids: texts.map((/** @type {string} */ text) => encoded(sourceVocabulary, text)) },
      {},
    ),
  decode: ({ rows }, { checkpoint: { targetVocabulary } }) =>
    packPayload(
      {
        texts: rows.map(targetVocabulary.decode, targetVocabulary),
        labels: rows.map(targetVocabulary.labels, targetVocabulary),
      },
      {},
    ),
  time: ({ text, runs }, model) => packPayload({ times: timed(model, text, runs) }, {}),
};

/**
 * A payload with the checks of its trace, which a page adds later.
 * @param {ExplorableModel} model
 * @param {import("../../../explorer/components/browser_model/js/explorableModel.js").ModelTrace} trace
 * @param {import("../../../explorer/components/browser_model/js/tracePayload.js").Shown} shown
 */
function payloadOf(model, trace, shown) {
  return tracePayload(trace, shown, integrityOf(model, trace));
}

/**
 * Label, start and stop of each word that labels spell.
 * @param {string[]} labels
 */
function wordsIn(labels) {
  return grouped(labels, marksWords(labels)).map(({ label, start, stop }) => [label, start, stop]);
}

/**
 * The ids of `text`, or the key and facts of the error.
 * @param {import("../../../explorer/components/browser_model/js/checkpoint.js").Vocabulary} vocabulary
 * @param {string} text
 */
function encoded(vocabulary, text) {
  try {
    return vocabulary.encode(text);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return [error.key, error.facts];
  }
}

/**
 * @param {ExplorableModel} model
 * @param {string} text
 * @param {object} request
 */
function traced(model, text, request) {
  const trace = model.trace(text, request);
  const { arrays, logits, captured: _, ...facts } = trace;
  const header = { ...facts, measured: model.measured(trace) };
  const shapes = Object.entries(arrays).map(([name, { shape }]) => [name, shape]);
  /** @type {Record<string, ["uint8" | "float32", ArrayLike<number>]>} */
  const packed = { chosen_from: ["float32", logits] };
  for (const [name, { values }] of Object.entries(arrays)) {
    packed[name] = [values instanceof Uint8Array ? "uint8" : "float32", values];
  }
  return packPayload({ ...header, shapes: Object.fromEntries(shapes) }, packed);
}

/**
 * Milliseconds of each of `runs` traces of `text`, and of what is measured of them.
 * @param {ExplorableModel} model
 * @param {string} text
 * @param {number} runs
 */
function timed(model, text, runs) {
  return Array.from({ length: runs }, () => {
    const start = performance.now();
    model.measured(model.trace(text)); // which Python's trace holds
    return performance.now() - start;
  });
}

/** @param {Uint8Array} payload */
function send(payload) {
  const length = new Uint8Array(Uint32Array.of(payload.length).buffer);
  for (const bytes of [length, payload]) {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent);
  }
}

/** @type {ExplorableModel | null} */
let model = null;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    model ??= ExplorableModel.read(readFileSync(path), basename(path));
    send(ANSWERS[asked.question](asked, model));
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    send(packPayload({ error: error.key, facts: error.facts }, {}));
  }
}
