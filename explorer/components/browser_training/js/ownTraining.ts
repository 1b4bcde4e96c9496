/** The training that a person has started in this page, one at a time. */

import type { Choice } from "./settings.ts";
import { beginTraining, probeAddress, type Training } from "./trainedRun.ts";
import { startTrainer } from "./trainerClient.ts";
import type { TrainedMoment } from "./trainerWorker.ts";

export interface OwnTraining {
  start: (choice: Choice) => void;
  stop: () => void; // at the last moment
  latest: () => Training | null;
  probe: (address: string) => Uint8Array | undefined; // payload of a moment's trace
}

/** @param onChange told of each change of the training */
export function createOwnTraining(onChange: (training: Training) => void): OwnTraining {
  const probes = new Map<string, Uint8Array>(); // of all trainings of this page
  let training: Training | null = null;
  let end = () => {};

  const change = (patch: Partial<Training>) => {
    if (!training) return;
    training = { ...training, ...patch };
    onChange(training);
  };
  const take = (moment: TrainedMoment) => {
    if (!training) return;
    const { settings, moments } = training;
    probes.set(probeAddress(training, moment.step), moment.probe);
    const done = moment.step >= settings.steps || moment.exact >= settings.until;
    if (done) end();
    change({ state: done ? "done" : "running", moments: [...moments, moment] });
  };
  return {
    start: (choice) => {
      end();
      training = beginTraining(choice);
      onChange(training);
      end = startTrainer(choice, {
        onMoment: take,
        onProblem: (problem) => change({ state: "failed", problem }),
      });
    },
    stop: () => {
      end();
      change({ state: "stopped" });
    },
    latest: () => training,
    probe: (address) => probes.get(address),
  };
}
