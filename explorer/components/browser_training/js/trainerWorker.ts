/** Trains a model in a worker, and tells the page of each moment. It is stopped from outside. */

import { checkpointFile } from "./checkpointFile.ts";
import { keepInstances } from "./keptInstances.ts";
import { probed } from "./probe.ts";
import { type Choice, settingsOf } from "./settings.ts";
import { type Measured, Trainer } from "./trainer.ts";

/** One evaluation; `seconds`: since the start. */
export interface TrainedMoment extends Measured {
  seconds: number;
  tokens: number; // trained on since the last moment, padding not counted
  greedy: string; // what the model writes for the probe
  probe: Uint8Array<ArrayBuffer>; // payload of its trace
  file: Uint8Array<ArrayBuffer>; // the model as a checkpoint
}

/** To the page. */
export type TrainerMessage = { moment: TrainedMoment } | { problem: string };

/** Where messages go; `self` is a worker's, whatever the library of types says of pages. */
const page = self as unknown as {
  postMessage: (message: TrainerMessage, transfer?: Transferable[]) => void;
};

function train(choice: Choice) {
  const start = performance.now();
  const settings = settingsOf(choice);
  const trainer = new Trainer(settings);
  const { steps, until, evaluate_every } = settings;
  for (let exact = 0; trainer.step < steps && exact < until; ) {
    const loss = trainer.advance();
    if (!Number.isFinite(loss)) throw new Error(`loss ${loss}`);
    if (trainer.step % evaluate_every && trainer.step < steps) continue;
    const measured = trainer.measure();
    exact = measured.exact;
    const facts = { steps: trainer.step, exact_match: exact };
    const file = checkpointFile(settings, trainer.parameters(), facts);
    const { greedy, payload } = probed(file, settings);
    const tokens = trainer.takeTokens();
    const seconds = (performance.now() - start) / 1000;
    const moment = { ...measured, seconds, tokens, greedy, probe: payload, file };
    page.postMessage({ moment }, [payload.buffer, file.buffer]);
  }
}

self.addEventListener("message", ({ data }) => {
  keepInstances();
  try {
    train(data as Choice);
  } catch (error) {
    page.postMessage({ problem: String(error) });
  }
});
