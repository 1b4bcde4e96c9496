import { element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { finishedLessons } from "./finished.ts";

/** A lesson in the list of all. */
export interface ListedLesson {
  name: string;
  title: string;
  minutes: number | null; // that it takes, where it says so
  aims: string; // for the teacher, or ""
}

/**
 * The entries of the list of lessons: what opens each one, how long it takes, and a tick where it
 * was finished in this browser.
 * @param opener makes the link or the button that opens it
 */
export function lessonItems(
  lessons: ListedLesson[],
  say: Say,
  opener: (lesson: ListedLesson) => HTMLElement,
): HTMLElement[] {
  const finished = finishedLessons();
  return lessons.map((lesson) => {
    const { name, minutes, aims } = lesson;
    const opens = opener(lesson);
    if (aims) opens.title = aims;
    const time = minutes ? [note(say("minutes", { minutes }))] : [];
    return element("li", {}, opens, ...time, ...tick(finished.has(name), say));
  });
}

function note(text: string) {
  return element("span", { class: "note" }, text);
}

function tick(done: boolean, say: Say) {
  const attributes = { class: "tick", role: "img", "aria-label": say("done"), title: say("done") };
  return done ? [element("span", { ...attributes, testid: "lesson-tick" }, "✓")] : [];
}
