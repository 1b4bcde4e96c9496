import type { Described } from "./classEvents.ts";
import { ASKED, SHOWN } from "./classEvents.ts";

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
  const dispatch = (detail: () => Described | null) => {
    if (dataset[SPEAKER] === own)
      document.dispatchEvent(new CustomEvent(SHOWN, { detail: detail() }));
  };
  const say = () => dispatch(describe);
  signal.addEventListener("abort", () => dispatch(() => null));
  document.addEventListener(ASKED, say, { signal });
  return say;
}
