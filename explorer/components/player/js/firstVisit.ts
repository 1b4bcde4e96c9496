import { store, stored } from "../../page/js/browserStorage.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const SEEN = "attention-played"; // in the browser's storage

/**
 * Play the first picture that a person sees, row by row and once. Any step stops it. What a link or a
 * lesson shows stays as it is, and so does the picture of a class.
 */
export function playOnFirstVisit({ pieces, options, act, inLesson }: TraceContext) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const inClass = document.documentElement.hasAttribute("data-class");
  const asked = !pieces.header.view.suggested || inLesson || inClass;
  if (still || asked || options.alone || stored(SEEN) !== null) return;
  store(SEEN, "");
  if (stored(SEEN) === null) return; // without storage it would play at each visit
  act.first();
  act.play();
}
