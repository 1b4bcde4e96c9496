/** What a guest of a class shares of a training: its curve and its heads, without a name. */

import { send } from "../../classroom/js/stream.ts";
import { latestOnly } from "../../dom/js/latestOnly.ts";
import type { Training } from "./trainedRun.ts";

const PAUSE = 2000; // ms from the answer to a message to the next one
const RETRIES = [5000, 20_000, 60_000]; // ms until a message that was not taken is sent again

/**
 * Sends the trainings of this page to the class while the guest agrees. Each message has all that the
 * one before it had, so one that is not taken is made good by the next; the last one is sent again.
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
  let refusals = 0; // of the latest, in a row
  let retry: ReturnType<typeof setTimeout> | undefined;
  const sendLatest = latestOnly(async () => {
    clearTimeout(retry);
    if (!latest?.moments.length || !isAgreed()) return;
    const taken = await send("curve", sharedCurve(latest, word));
    onAnswer(taken);
    refusals = taken ? 0 : refusals + 1;
    const wait = RETRIES[refusals - 1];
    if (wait) retry = setTimeout(sendLatest, wait);
    await new Promise((done) => setTimeout(done, PAUSE));
  });
  const sendAnew = () => {
    refusals = 0;
    sendLatest();
  };
  const take = (training: Training) => {
    latest = training;
    sendAnew();
  };
  window.addEventListener("online", () => refusals && sendAnew());
  return { begun, take, send: sendAnew };
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
