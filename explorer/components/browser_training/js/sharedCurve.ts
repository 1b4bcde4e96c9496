/** What a guest of a class shares of a training: its curve and its heads, without a name. */

import { send } from "../../classroom/js/stream.ts";
import { latestOnly } from "../../dom/js/latestOnly.ts";
import type { Training } from "./trainedRun.ts";

const PAUSE = 2000; // ms from the answer to a message to the next one

/**
 * Sends the trainings of this page to the class while the guest agrees. Each message has all that the
 * one before it had, so one that is not taken is made good by the next.
 * @param onAnswer told whether the class has taken a message
 */
export function createSharing(onAnswer: (taken: boolean) => void) {
  let agreed = false;
  let messages: ReturnType<typeof createMessages> | null = null;
  return {
    agree: (agrees: boolean) => {
      agreed = agrees;
      messages?.send();
    },
    follow: (training: Training) => {
      if (messages?.begun !== training.begun)
        messages = createMessages(training.begun, () => agreed, onAnswer);
      messages.take(training);
    },
  };
}

/** The messages of one training: one at a time, the latest last, also when another one has begun. */
function createMessages(
  begun: number,
  isAgreed: () => boolean,
  onAnswer: (taken: boolean) => void,
) {
  const word = Math.random().toString(36).slice(2);
  let latest: Training | null = null;
  const sendLatest = latestOnly(async () => {
    if (!latest?.moments.length || !isAgreed()) return;
    onAnswer(await send("curve", sharedCurve(latest, word)));
    await new Promise((done) => setTimeout(done, PAUSE));
  });
  const take = (training: Training) => {
    latest = training;
    sendLatest();
  };
  return { begun, take, send: sendLatest };
}

/**
 * @param training after its first moment
 * @param word tells it from others, and no more
 */
export function sharedCurve({ settings, state, moments }: Training, word: string) {
  const { task, causal, seed } = settings;
  return {
    ...{ training: word, task, causal, seed },
    points: moments.map(({ step, exact }) => [step, rounded(exact)]),
    gold: moments[moments.length - 1].gold.map((heads) => heads.map(rounded)),
    finished: state === "done",
  };
}

function rounded(share: number) {
  return Math.round(1e4 * share) / 1e4;
}
