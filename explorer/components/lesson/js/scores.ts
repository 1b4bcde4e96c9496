/** How many questions of each lesson a visitor got right at the first try, kept in the browser. */

import { store, stored } from "../../page/js/browserStorage.ts";

const SCORES = "attention-lesson-scores"; // JSON: right and asked, by lesson

/** Of one lesson, or of several together. */
export interface Score {
  right: number;
  questions: number;
}

/** The best score of each finished lesson, by name. */
export function lessonScores(): ReadonlyMap<string, Score> {
  try {
    const kept: Record<string, unknown> = JSON.parse(stored(SCORES) ?? "{}");
    return new Map(
      Object.entries(kept ?? {}).flatMap(([name, one]) => (isScore(one) ? [[name, one]] : [])),
    );
  } catch {
    return new Map(); // not written by this program
  }
}

/** Keep the score of a lesson, unless a better one of as many questions is kept. */
export function keepScore(name: string, { right, questions }: Score) {
  const scores = lessonScores();
  const before = scores.get(name);
  if (before?.questions === questions && before.right > right) return;
  store(SCORES, JSON.stringify({ ...Object.fromEntries(scores), [name]: { right, questions } }));
}

/** Of all finished lessons. */
export function totalScore(): Score {
  const scores = [...lessonScores().values()];
  const sum = (name: keyof Score) => scores.reduce((total, one) => total + one[name], 0);
  return { right: sum("right"), questions: sum("questions") };
}

function isScore(one: unknown): one is Score {
  const { right, questions } = (one ?? {}) as Partial<Score>;
  return Number.isInteger(right) && Number.isInteger(questions);
}
