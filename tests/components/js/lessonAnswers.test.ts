import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  answersOf,
  firstTriesOf,
  forgetAnswers,
  keepAnswers,
  scoreOf,
} from "../../../explorer/components/lesson/js/answers.ts";
import type { Lesson } from "../../../explorer/components/lesson/js/content.ts";
import { finishedLessons, keepFinished } from "../../../explorer/components/lesson/js/finished.ts";
import {
  keepScore,
  lessonScores,
  totalScore,
} from "../../../explorer/components/lesson/js/scores.ts";

const LESSON = { name: "mine", cards: [null, null, null] } as unknown as Lesson;

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  };
}

beforeEach(() => {
  Object.assign(globalThis, { sessionStorage: storage(), localStorage: storage() });
});

test("answers and first tries are kept by lesson until it is left", () => {
  keepAnswers("other", new Map([[0, 1]]), new Map([[0, 1]]));
  keepAnswers("mine", new Map([[1, 2]]), new Map([[1, 0]]));
  assert.deepEqual([...answersOf(LESSON)], [[1, 2]]);
  assert.deepEqual([...firstTriesOf(LESSON)], [[1, 0]]);
  forgetAnswers();
  assert.equal(answersOf(LESSON).size + firstTriesOf(LESSON).size, 0);
});

test("an answer to a card that the lesson no longer has is not counted", () => {
  keepAnswers("mine", new Map([[3, 0]]), new Map([[3, 1]]));
  assert.equal(firstTriesOf(LESSON).size, 0);
});

test("only what was right at the first try counts, and nothing where nobody tried", () => {
  const first = new Map([
    [0, 1],
    [1, 0],
    [2, -1],
    [3, 1],
  ]);
  assert.equal(scoreOf(first), 2);
  assert.equal(scoreOf(new Map([[0, 0]])), 0);
  assert.equal(scoreOf(new Map([[0, -1]])), null);
  assert.equal(scoreOf(new Map()), null);
});

test("a finished lesson is remembered once, whatever was in the storage", () => {
  localStorage.setItem("attention-lessons-finished", "{");
  assert.deepEqual([...finishedLessons()], []);
  for (const name of ["mine", "other", "mine"]) keepFinished(name);
  assert.deepEqual([...finishedLessons()], ["mine", "other"]);
  localStorage.setItem("attention-lessons-finished", "7");
  assert.deepEqual([...finishedLessons()], []);
});

test("the best score of each lesson counts, whatever was in the storage", () => {
  for (const broken of ["{", "7", "null", '{"mine": 3, "other": {"right": "2"}}']) {
    localStorage.setItem("attention-lesson-scores", broken);
    assert.equal(lessonScores().size, 0);
  }
  keepScore("mine", { right: 4, questions: 6 });
  keepScore("mine", { right: 2, questions: 6 });
  keepScore("other", { right: 1, questions: 5 });
  assert.deepEqual(lessonScores().get("mine"), { right: 4, questions: 6 });
  assert.deepEqual(totalScore(), { right: 5, questions: 11 });
  keepScore("mine", { right: 2, questions: 7 }); // the lesson has another question now
  assert.deepEqual(totalScore(), { right: 3, questions: 12 });
});
