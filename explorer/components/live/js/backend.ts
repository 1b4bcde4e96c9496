/** What computes the traces of a page. */

import type { Check } from "../../browser_model/js/integrity.ts";
import type { LiveModel } from "./liveModel.ts";
import { ModelLoader } from "./modelLoader.ts";
import type { Questions } from "./modelWorker.ts";
import { TraceQueue } from "./traceQueue.ts";

export interface Told {
  wanted: () => boolean; // whether the trace is still waited for
  onText: (decoded: string) => void; // what is decoded so far
}

/** A trace, and what else can be asked of it. */
export interface ComputedTrace {
  bytes: Uint8Array<ArrayBuffer>; // payload of the player, without sentences
  check: (() => Promise<Check[]>) | null; // null where the payload has or offers the checks
  fetch: (name: string, place: string) => Promise<Uint8Array<ArrayBuffer>>;
}

export interface Backend {
  has: (model: string) => boolean; // whether it is open, or on its way
  /** What of a model's file is there while it comes; else null. `size` in MB. */
  progress: (model: string) => { percent: number; size: string } | null;
  took: (model: string) => number | null; // seconds, for its last text; null before, and without a server
  /** Null where nobody waits for it any longer. Rejects with a `ModelError`. */
  trace: (question: Questions["trace"], told: Told) => Promise<ComputedTrace | null>;
  traceAhead: (question: Questions["trace"]) => Promise<void>; // of a text that is not sent yet
}

/**
 * The page's own models, in a worker.
 * @param source of the worker
 * @param onProgress told when a part of a model's file has come
 */
export function workerBackend(files: LiveModel[], source: string, onProgress: () => void): Backend {
  const models = new ModelLoader(files, source, onProgress);
  const traces = new TraceQueue();
  return {
    has: (model) => models.has(model),
    progress: (model) => models.progress(model),
    took: () => null, // the text comes as it is decoded
    trace: async (question, told) => {
      const { request } = question;
      const client = await models.open(request.model);
      onProgress();
      const bytes = await traces.trace(client, question, told);
      if (!bytes) return null;
      return {
        bytes,
        check: () => client.ask("integrity", { request }),
        fetch: (name, place) => client.ask("resource", { request, name, place }),
      };
    },
    traceAhead: async (question) => {
      const client = await models.open(question.request.model);
      traces.traceAhead(client, question);
    },
  };
}
