/**
 * Answers questions about a checkpoint for `tests/support/browser_model.py`: one JSON object a
 * line on the standard input, one payload on the standard output, after its length.
 *
 *     node browserModelServer.ts CHECKPOINT
 */

import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { ExplorableModel } from "../../../explorer/components/browser_model/js/explorableModel.ts";
import { integrityOf } from "../../../explorer/components/browser_model/js/integrity.ts";
import { ModelError } from "../../../explorer/components/browser_model/js/modelError.ts";
import { sha256 } from "../../../explorer/components/browser_model/js/sha256.ts";
import { tracePayload } from "../../../explorer/components/browser_model/js/tracePayload.ts";
import { TraceAnswers } from "../../../explorer/components/browser_model/js/traceQuestions.ts";
import {
  grouped,
  marksWords,
} from "../../../explorer/components/browser_model/js/wordSegmentation.ts";
import { packPayload } from "./payloads.ts";

const path = process.argv[2];

let answers: TraceAnswers | null = null; // of the text that was asked about last

const ANSWERS: Record<string, (asked: any, model: ExplorableModel) => Uint8Array> = {
  read: () => packPayload({}, {}),
  trace: ({ text, request }, model) => traced(model, text, request),
  payload: ({ text, request, shown }, model) => payloadOf(model, model.trace(text, request), shown),
  tampered: ({ text, shown }, model) => {
    const trace = model.trace(text);
    trace.arrays["decoder.attention"].values[0] += 1e-3;
    return payloadOf(model, trace, shown);
  },
  resource: ({ text, name, place, request = {} }, model) => {
    const known = JSON.stringify(answers?.request) === JSON.stringify(request);
    if (!answers || !known || answers.text !== text)
      answers = new TraceAnswers(model, text, request);
    return answers.answer(name, place);
  },
  words: ({ rows }) => packPayload({ words: rows.map((row: string[]) => wordsIn(row)) }, {}),
  sha256: ({ bytes }) => packPayload({ digest: sha256(Uint8Array.from(bytes)) }, {}),
  encode: ({ texts }, { checkpoint: { sourceVocabulary } }) =>
    packPayload({ ids: texts.map((text: string) => encoded(sourceVocabulary, text)) }, {}),
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

/** A payload with the checks of its trace, which a page adds later. */
function payloadOf(
  model: ExplorableModel,
  trace: import("../../../explorer/components/browser_model/js/explorableModel.ts").ModelTrace,
  shown: import("../../../explorer/components/browser_model/js/tracePayload.ts").PlayerSettings,
) {
  return tracePayload(trace, shown, integrityOf(model, trace));
}

/** Label, start and stop of each word that labels spell. */
function wordsIn(labels: string[]) {
  return grouped(labels, marksWords(labels)).map(({ label, start, stop }) => [label, start, stop]);
}

/** The ids of `text`, or the key and facts of the error. */
function encoded(
  vocabulary: import("../../../explorer/components/browser_model/js/checkpoint.ts").Vocabulary,
  text: string,
) {
  try {
    return vocabulary.encode(text);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return [error.key, error.facts];
  }
}

function traced(model: ExplorableModel, text: string, request: object) {
  const trace = model.trace(text, request);
  const { arrays, stepwise, logits: _logits, captured: _captured, ...facts } = trace;
  const header = { ...facts, measured: model.measured(trace) };
  const shapes = Object.entries(arrays).map(([name, { shape }]) => [name, shape]);
  const packed: Record<string, ["uint8" | "float32", ArrayLike<number>]> = {
    chosen_from: ["float32", stepwise],
  };
  for (const [name, { values }] of Object.entries(arrays)) {
    packed[name] = [values instanceof Uint8Array ? "uint8" : "float32", values];
  }
  return packPayload({ ...header, shapes: Object.fromEntries(shapes) }, packed);
}

/** Milliseconds of each of `runs` traces of `text`, and of what is measured of them. */
function timed(model: ExplorableModel, text: string, runs: number) {
  return Array.from({ length: runs }, () => {
    const start = performance.now();
    model.measured(model.trace(text)); // which Python's trace holds
    return performance.now() - start;
  });
}

function send(payload: Uint8Array) {
  const length = new Uint8Array(Uint32Array.of(payload.length).buffer);
  for (const bytes of [length, payload]) {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent);
  }
}

let model: ExplorableModel | null = null;
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
