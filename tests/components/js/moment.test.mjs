import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isOverfitted,
  momentReason,
  momentSentence,
} from "../../../explorer/components/training_replay/js/momentText.js";

/** @type {(key: string, facts?: object) => string} */
const say = (key, facts = {}) => [key, ...Object.values(facts)].join(" ");

/** @type {(step: number, facts?: object) => any} */
const moment = (step, facts) => ({
  step,
  loss: 1,
  held_out: 1,
  exact: 0.73,
  gold: [
    [0.2, 0.3],
    [0.1, 0.68],
  ],
  ...facts,
});

/** @type {(moments: any[], facts?: object) => any} */
const run = (moments, facts) => ({
  task: "reverse",
  translates: false,
  chance: 0.17,
  best: null,
  strings: { gold_reverse: "", gold_other: "", why_reverse: "" },
  moments,
  ...facts,
});

test("a moment is what is right and what its sharpest head does", () => {
  const here = moment(150);
  assert.equal(
    momentSentence(say, run([here]), here),
    "moment_task 150 73 L1 H1 .68 gold_reverse .17",
  );
  const other = run([here], { task: "swap", chance: null });
  assert.match(momentSentence(say, other, here), /^moment_task_alone 150 73 L1 H1 \.68 gold_other/);
  const pairs = run([], { translates: true });
  const scores = { bleu: 9.94, perplexity: 17.52 };
  assert.equal(momentSentence(say, pairs, moment(5, scores)), "moment_translation 5 9.9 17.5");
  assert.equal(momentSentence(say, pairs, moment(5)), "moment_step 5");
});

test("the picture is explained when a head has formed, and said to be missing before", () => {
  const [early, between, late] = [0.2, 0.4, 0.6].map((weight) => moment(5, { gold: [[weight]] }));
  assert.equal(momentReason(say, run([early]), early), "why_none");
  assert.equal(momentReason(say, run([between]), between), "");
  assert.equal(momentReason(say, run([late]), late), "why_reverse");
});

test("a later moment is overfitted when its held-out loss rose and its training loss fell", () => {
  const best = moment(10, { loss: 0.8, held_out: 0.5 });
  /** @type {(loss: number, held_out: number, step?: number) => boolean} */
  const overfitted = (loss, held_out, step = 20) =>
    isOverfitted(best, moment(step, { loss, held_out }));
  assert.equal(overfitted(0.2, 0.9), true);
  assert.equal(overfitted(2.0, 2.0), false); // that is no overfitting
  assert.equal(overfitted(0.7, 0.505), false); // within the noise
  assert.equal(overfitted(0.2, 0.9, 5), false); // before the best moment
  const late = moment(20, { loss: 0.2, held_out: 0.9 });
  assert.equal(momentReason(say, run([best, late], { best: 10 }), late), "overfitted 10 0.5 0.9");
});
