/** Asks the worker with the models. */

import { ModelError } from "../../browser_model/js/modelError.ts";
import type { Answers, Kind, Message, Questions } from "./modelWorker.ts";

export interface ModelClient {
  /**
   * rejects with a `ModelError`;
   * onText: told of what is decoded so far
   */
  ask: <Name extends Kind>(
    kind: Name,
    question: Questions[Name],
    onText?: (text: string) => void,
  ) => Promise<Answers[Name]>;
}

/**
 * The models in a worker whose source the page holds: from disk, browsers open no worker of a file.
 * Throws a `ModelError` in a browser without workers.
 */
export function createModelClient(source: string): ModelClient {
  const worker = openWorker(source);
  const waiting: Map<
    number,
    {
      resolve: (answer: never) => void;
      reject: (error: Error) => void;
      onText?: (text: string) => void;
    }
  > = new Map();
  let asked = 0;
  let failed = false; // maybe before anything is asked: its error comes when it is read
  worker.addEventListener("message", ({ data }) => {
    const { id, answer, text, error } = data as Message;
    const one = waiting.get(id);
    if (text !== undefined) return one?.onText?.(text);
    waiting.delete(id);
    if (error) one?.reject(new ModelError(error.key, error.facts));
    else one?.resolve(answer as never);
  });
  worker.addEventListener("error", () => {
    failed = true;
    for (const { reject } of waiting.values()) reject(new ModelError("no_worker"));
    waiting.clear();
  });
  return {
    ask: (kind, question, onText) =>
      new Promise((resolve, reject) => {
        if (failed) throw new ModelError("no_worker");
        asked += 1;
        waiting.set(asked, { resolve, reject, onText });
        const handed = "data" in question ? [question.data.buffer] : []; // not copied: megabytes
        worker.postMessage({ id: asked, kind, question }, handed);
      }),
  };
}

function openWorker(source: string) {
  try {
    return new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  } catch {
    throw new ModelError("no_worker");
  }
}
