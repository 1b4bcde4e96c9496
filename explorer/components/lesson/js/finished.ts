/** Which lessons a visitor has finished, kept in the browser. */

import { store, stored } from "../../page/js/browserStorage.ts";

const FINISHED = "attention-lessons-finished"; // JSON: names

export function finishedLessons(): ReadonlySet<string> {
  try {
    const names: unknown = JSON.parse(stored(FINISHED) ?? "[]");
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch {
    return new Set(); // not written by this program
  }
}

/** @param name of a lesson */
export function keepFinished(name: string) {
  store(FINISHED, JSON.stringify([...new Set([...finishedLessons(), name])]));
}
