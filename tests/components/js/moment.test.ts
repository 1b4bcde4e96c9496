import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isOverfitted,
  leakReason,
  momentReason,
  momentSentence,
} from "../../../explorer/components/training_replay/js/momentText.ts";

const say: (key: string, facts?: object) => string = (key, facts = {}) =>
  [key, ...Object.values(facts)].join(" ");

const moment: (step: number, facts?: object) => any = (step, facts) => ({
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

const run: (moments: any[], facts?: object) => any = (moments, facts) => ({
  task: "reverse",
  translates: false,
  continues: false,
  causal: true,
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
    "moment_task 150 73.0\u00a0% L1 H1 .68 gold_reverse .17",
  );
  const other = run([here], { task: "swap", chance: null });
  assert.match(
    momentSentence(say, other, here),
    /^moment_task_alone 150 73\.0\u00a0% L1 H1 \.68 gold_other/,
  );
  const pairs = run([], { translates: true });
  const scores = { exact: null, bleu: 9.94, perplexity: 17.52 };
  assert.equal(momentSentence(say, pairs, moment(5, scores)), "moment_translation 5 9.9 17.5");
  assert.equal(momentSentence(say, pairs, moment(5, { exact: null })), "moment_step 5");
});

test("the picture is explained when a head has formed, and said to be missing before", () => {
  const [early, between, late] = [0.2, 0.4, 0.6].map((weight) => moment(5, { gold: [[weight]] }));
  assert.equal(momentReason(say, run([early]), early), "why_none");
  assert.equal(momentReason(say, run([between]), between), "");
  assert.equal(momentReason(say, run([late]), late), "why_reverse");
});

test("almost all is not all, as in the line of the status", () => {
  const almost = moment(10, { exact: 0.996 });
  assert.match(momentSentence(say, run([almost]), almost), /^moment_task 10 99\.6\u00a0% /);
});

test("the sentence speaks of the head that was chosen, else of the sharpest of its moment", () => {
  const [here, later] = [moment(150), moment(200, { gold: [[0.9, 0.3]] })];
  const both = run([here, later]);
  assert.match(momentSentence(say, both, here), /L1 H1 \.68/);
  assert.match(momentSentence(say, both, later), /L0 H0 \.90/);
  assert.match(momentSentence(say, both, here, { layer: 0, head: 1 }), /L0 H1 \.30/);
  assert.match(momentSentence(say, both, later, { layer: 5, head: 0 }), /L0 H0 \.90/);
});

/** Moments of a translation, of which the second is the best. */
function overfittedAt(held: number[], facts?: object) {
  const moments = held.map((held_out, at) =>
    moment(10 * (at + 1), { loss: 1 - at / 10, held_out, bleu: 1 }),
  );
  const own = run(moments, { translates: true, best: 20, ...facts });
  return moments.flatMap((one, at) => (isOverfitted(own, one) ? [at] : []));
}

test("overfitting is a held-out loss that rose clearly at several moments in a row", () => {
  assert.deepEqual(overfittedAt([2, 1, 1.1, 1.2, 1.3, 1.4]), [4, 5]);
  assert.deepEqual(overfittedAt([2, 1, 1.1, 1.2]), []); // not yet
  assert.deepEqual(overfittedAt([2, 1, 1.04, 1.04, 1.04, 1.04]), []); // within the noise
  assert.deepEqual(overfittedAt([2, 1, 1.3, 1.01, 1.3, 1.3]), []); // one evaluation was noisy
  assert.deepEqual(overfittedAt([2, 1, 1.1, 1.2, 1.3], { causal: false }), []);
  assert.deepEqual(overfittedAt([2, 1, 1.1, 1.2, 1.3], { translates: false }), []); // new data
  const diverging = [1, 1, 2, 3, 4].map((loss, at) => moment(at, { loss, held_out: loss }));
  const own = run(diverging, { translates: true, best: 1 });
  assert.equal(isOverfitted(own, diverging[4]), false); // the training loss rose too
});

test("an overfitted moment says so with the numbers of the best one and its own", () => {
  const moments = [0.5, 0.7, 0.8, 0.9].map((held_out, at) =>
    moment(10 * (at + 1), { loss: 0.8 - at / 10, held_out }),
  );
  const own = run(moments, { translates: true, best: 10 });
  assert.equal(momentReason(say, own, moments[3]), "overfitted 10 0.5 0.9");
});

test("without a causal mask a small loss and a bad score are explained by the moment's own", () => {
  const leak: (loss: number, exact: number | null, facts?: object) => string = (
    held_out,
    exact,
    facts,
  ) => {
    const here = moment(30, { held_out, exact });
    return leakReason(say, run([here], { causal: false, ...facts }), here);
  };
  assert.equal(leak(0.12, 0.004), "leak 0.12 0.4\u00a0%");
  assert.equal(leak(5.2e-5, 0), "leak 5.2e-5 0.0\u00a0%");
  assert.equal(leak(2.5, 0), ""); // nothing has been learnt yet
  assert.equal(leak(0.01, 0.98), "");
  assert.equal(leak(0.01, null), "");
  assert.equal(leak(0.12, 0.004, { causal: true }), "");
  const pairs = moment(30, { held_out: 0.01, bleu: 0.4 });
  const own = run([pairs], { causal: false, translates: true });
  assert.equal(leakReason(say, own, pairs), "leak_bleu 0.01 0.4");
});
