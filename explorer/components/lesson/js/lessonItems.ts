import { element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { finishedLessons } from "./finished.ts";
import { lessonScores, type Score, totalScore } from "./scores.ts";

/** A lesson in the list of all. */
export interface ListedLesson {
  name: string;
  title: string;
  minutes: number | null; // that it takes, where it says so
  aims: string; // for the teacher, or ""
}

/**
 * The entries of the list of lessons: what opens each one, how long it takes, and a tick where it
 * was finished in this browser, with its score.
 * @param opener makes the link or the button that opens it
 */
export function lessonItems(
  lessons: ListedLesson[],
  say: Say,
  opener: (lesson: ListedLesson) => HTMLElement,
): HTMLElement[] {
  const [finished, scores] = [finishedLessons(), lessonScores()];
  return lessons.map((lesson) => {
    const { name, minutes, aims } = lesson;
    const opens = opener(lesson);
    if (aims) opens.title = aims;
    const time = minutes ? [note(say("minutes", { minutes }))] : [];
    const marks = [...tick(finished.has(name), say), ...scored(scores.get(name), say)];
    return element("li", {}, opens, ...time, ...marks);
  });
}

/** The score of all lessons that were finished in this browser; nothing without one. */
export function allScored(say: Say): HTMLElement[] {
  const { right, questions } = totalScore();
  if (!questions) return [];
  const text = say("score_all", { right, questions });
  return [element("p", { class: "note", testid: "lessons-score" }, text)];
}

function scored(score: Score | undefined, say: Say) {
  return score ? [note(say("score_short", { ...score }))] : [];
}

function note(text: string) {
  return element("span", { class: "note" }, text);
}

function tick(done: boolean, say: Say) {
  const attributes = { class: "tick", role: "img", "aria-label": say("done"), title: say("done") };
  return done ? [element("span", { ...attributes, testid: "lesson-tick" }, "✓")] : [];
}
