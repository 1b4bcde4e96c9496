/**
 * Trains a few steps as the browser does, for `tests/components/test_browser_training.py`:
 *
 *     node trainerServer.ts TASK CAUSAL STEPS
 *
 * One line of JSON: the settings, the model before and after, each batch with its loss, the gradients
 * of the first one, and the logits of the last one after training.
 */

import { checkpointFile } from "../../../explorer/components/browser_training/js/checkpointFile.ts";
import { lossAndGradients } from "../../../explorer/components/browser_training/js/optimizer.ts";
import { createRandom } from "../../../explorer/components/browser_training/js/random.ts";
import {
  learningRate,
  settingsOf,
} from "../../../explorer/components/browser_training/js/settings.ts";
import {
  type Batch,
  drawBatch,
  isHeldOut,
} from "../../../explorer/components/browser_training/js/toyTasks.ts";
import { logitsOf } from "../../../explorer/components/browser_training/js/trainable.ts";
import { asked, fed, Trainer } from "../../../explorer/components/browser_training/js/trainer.ts";

const MORE = 160; // steps before the model is measured

const [task, causal, count] = process.argv.slice(2);
const settings = settingsOf({ task, causal: causal === "true", seed: 5 });
const trainer = new Trainer(settings);
const random = createRandom(7);
const steps = Number(count);
const batches = Array.from({ length: steps }, () => drawBatch(settings, settings.batch, random));
const file = () =>
  Buffer.from(checkpointFile(settings, trainer.parameters(), { steps: trainer.step })).toString(
    "base64",
  );

/** One use more of the weights. */
function copyOf(weights: typeof trainer.learnt.weights) {
  return Object.fromEntries(Object.entries(weights).map(([name, one]) => [name, one.ref]));
}

/** The gradients of the loss on a batch, by weight. */
function gradients(batch: Batch): Record<string, number[]> {
  const [, found] = lossAndGradients(trainer.config)(copyOf(trainer.learnt.weights), asked(batch));
  return Object.fromEntries(
    Object.entries(found).map(([name, one]: any) => [name, [...one.dataSync()]]),
  );
}

function plain({ size, width, ...parts }: Batch) {
  const rows = (ids: Int32Array) =>
    Array.from({ length: size }, (_, row) => [...ids.subarray(row * width, (row + 1) * width)]);
  const none = Array.from({ length: size }, () => []); // the source of a decoder alone
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, part ? rows(part) : none]),
  );
}

const symbols = Array.from({ length: 2000 }, () =>
  Array.from({ length: 1 + random.below(settings.longest) }, () => random.below(3)),
);
const before = file();
const first = gradients(batches[0]);
const losses = batches.map((batch) => trainer.advance(batch));
const last = batches[steps - 1];
const { weights } = trainer.learnt;
const logits = logitsOf(trainer.config, weights, fed(last));
const trained = file();
for (let step = 0; step < MORE; step++) trainer.advance();
const told = {
  settings,
  rates: [0, 1, 49, 50, 200, 399].map((step) => [step, learningRate(settings, step)]),
  held_out: symbols.map((sequence) => [sequence, isHeldOut(sequence)]),
  batches: batches.map(plain),
  gradients: first,
  losses,
  logits: [...logits.dataSync()],
  measured: trainer.measure(),
  evaluated: plain(trainer.heldOut),
  files: [before, trained, file()],
};
process.stdout.write(JSON.stringify(told), () => process.exit()); // jax-js keeps workers
