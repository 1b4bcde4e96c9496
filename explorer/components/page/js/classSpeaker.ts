import { type Described, onAskShown, tellShown } from "./classEvents.ts";

/** On the page: the part mounted last. One of the page before may still be there for a while. */
const SPEAKER = "classSpeaker";

/**
 * Let a part of the host's page say what the class is to follow, when it is asked and when it goes.
 * @param signal aborted when the part goes
 * @returns says it, to be called after each change
 */
export function createSpeaker(signal: AbortSignal, describe: () => Described): () => void {
  const { dataset } = document.documentElement;
  const own = Math.random().toString(36).slice(2);
  dataset[SPEAKER] = own;
  const tell = (what: () => Described | null) => {
    if (dataset[SPEAKER] === own) tellShown(what());
  };
  const say = () => tell(describe);
  signal.addEventListener("abort", () => tell(() => null));
  onAskShown(say, signal);
  return say;
}
