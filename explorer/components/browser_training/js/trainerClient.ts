/** Starts a training in a worker, whose source comes when the first one is started. */

import type { Choice } from "./settings.ts";
import type { TrainedMoment, TrainerMessage } from "./trainerWorker.ts";

export interface Told {
  onMoment: (moment: TrainedMoment) => void;
  onProblem: (problem: string) => void;
}

type Receiver = Window & { receiveTrainer?: (trainer: () => void) => void };

let source: Promise<string> | null = null;

/** @returns how to stop it */
export function startTrainer(choice: Choice, { onMoment, onProblem }: Told): () => void {
  let worker: Worker | null = null;
  let stopped = false;
  const open = async () => {
    source ??= trainerSource();
    const text = await source.catch((error) => {
      source = null; // the next start may load it
      throw error;
    });
    if (stopped) return;
    worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    worker.addEventListener("error", ({ message }) => onProblem(message));
    worker.addEventListener("message", ({ data }: MessageEvent<TrainerMessage>) => {
      if ("moment" in data) onMoment(data.moment);
      else onProblem(data.problem);
    });
    worker.postMessage(choice);
  };
  open().catch((error) => stopped || onProblem(String(error)));
  return () => {
    stopped = true;
    worker?.terminate();
  };
}

/**
 * The source of the worker. From disk, browsers let a page run scripts but read no file, so the script
 * of the trainer hands the page its source: a function.
 */
function trainerSource(): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const receiver = window as Receiver;
    receiver.receiveTrainer = (trainer) => resolve(`(${trainer})()`);
    script.onload = () => reject(new Error(script.src)); // cut off: it has called nothing
    script.onerror = () => reject(new Error(script.src));
    script.src = document.getElementById("trainer")?.dataset.src ?? "";
    document.head.append(script);
  });
}
