import { element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { Lesson } from "./content.ts";
import { lessonScores, totalScore } from "./scores.ts";

/** What stands in the place of a card after the last one: what was learnt, and the score. */
export function createEnding(say: Say) {
  const summary = element("p", { class: "summary", testid: "lesson-summary" });
  const score = element("p", { class: "score", testid: "lesson-score" });
  const node = element(
    "div",
    { class: "ending", role: "status", testid: "lesson-end" },
    summary,
    score,
  );
  /** @param right how many first tries were; null where nobody has tried */
  const draw = ({ summary: learnt, questions }: Lesson, right: number | null) => {
    write(summary, learnt ? say("learnt", { summary: learnt }) : say("ended_alone"));
    const all = lessonScores().size > 1 ? ` ${say("score_all", { ...totalScore() })}` : "";
    write(score, right === null ? "" : `${say("score", { right, questions })}${all}`);
    score.hidden = right === null;
  };
  return { element: node, draw };
}
