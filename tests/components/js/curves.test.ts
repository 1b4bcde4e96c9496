import assert from "node:assert/strict";
import { test } from "node:test";
import { addressed } from "../../../explorer/components/training_replay/js/address.ts";
import { comparisonCsv } from "../../../explorer/components/training_replay/js/comparisonTable.ts";
import {
  heightFor,
  heightOf,
  panelBoxes,
} from "../../../explorer/components/training_replay/js/curveAxes.ts";
import {
  headingOf,
  panelsOf,
} from "../../../explorer/components/training_replay/js/curvePanels.ts";
import { spread } from "../../../explorer/components/training_replay/js/endLabels.ts";
import { momentSentence } from "../../../explorer/components/training_replay/js/momentText.ts";

const label: (wanted: number, mine?: boolean) => { wanted: number; mine: boolean; top: number } = (
  wanted,
  mine = false,
) => ({ wanted, mine, top: 0 });

test("names at line ends are a pitch apart, inside the panel, in the order of the ends", () => {
  for (const ends of [
    [50, 51, 52, 90],
    [1, 2, 3],
    [97, 98, 99],
    [10, 60],
  ]) {
    const placed = spread(
      ends.map((end) => label(end)),
      0,
      100,
      15,
    );
    assert.deepEqual(
      placed.map(({ wanted }) => wanted),
      ends,
    );
    placed.forEach(({ top }, index) => {
      assert.ok(top >= 7.5 && top <= 92.5);
      if (index) assert.ok(top - placed[index - 1].top >= 15);
    });
  }
  assert.deepEqual(
    spread([label(20), label(80)], 0, 100, 15).map(({ top }) => top),
    [20, 80],
  );
});

test("where not all names fit, the selected one and the uppermost stay", () => {
  const ends = [10, 20, 30, 40, 50].map((end) => label(end, end === 50));
  assert.deepEqual(
    spread(ends, 0, 50, 15).map(({ wanted }) => wanted),
    [10, 20, 50],
  );
});

test("a value has its height on a linear and on a logarithmic axis", () => {
  const box = { left: 0, top: 100, width: 10, height: 200 };
  assert.equal(heightOf(box, { range: [0, 1] }, 0.25), 250);
  assert.equal(heightOf(box, { type: "log", range: [-2, 2] }, 1), 200);
  assert.equal(heightOf(box, { type: "log", range: [-2, 2] }, 0), null);
});

test("names have their room right of the panel", () => {
  const size = { width: 600, height: 400 };
  const [wide, narrow] = panelBoxes([{ room: 0 }, { room: 100 }], 1, size);
  assert.equal(wide.width - narrow.width, 100);
});

test("a figure is as high as its lowest panel asks for", () => {
  for (const kind of ["task", "translates", "continues"]) {
    for (const heading of [1, 2]) {
      const panels = panelsOf({
        translates: kind === "translates",
        continues: kind === "continues",
      });
      const height = heightFor(panels, 120, 18, heading);
      const boxes = panelBoxes(panels, 1, { width: 400, height }, 18, heading);
      assert.ok(Math.abs(Math.min(...boxes.map((box) => box.height)) - 120) < 1e-9);
      boxes.forEach(({ top }, index) => {
        const above = index ? boxes[index - 1].top + boxes[index - 1].height : 0;
        assert.ok(top - above >= 20 * heading); // its heading fits
      });
    }
  }
});

test("of few pairs, all of which are learnt, the share that is right is said", () => {
  const moment = { step: 50, exact: 0.9, perplexity: 2, gold: [], held_out: 1 } as any;
  const run = { translates: true, moments: [moment], strings: {} } as any;
  const say = ((key: string, facts: object) => `${key} ${JSON.stringify(facts)}`) as any;
  assert.equal(momentSentence(say, run, moment), 'moment_pairs {"step":50,"right":"90.0\u00a0%"}');
  assert.equal(headingOf(run, { name: "loss" }), "loss_all");
  const [score] = panelsOf(run);
  assert.equal(headingOf(run, score), "bleu_all");
  assert.equal(score.value(moment), "90.0");
  const others = { ...moment, exact: null, bleu: 12 };
  const held = { ...run, moments: [others] };
  assert.match(momentSentence(say, held, others), /^moment_translation /);
  assert.equal(headingOf(held, { name: "loss" }), "loss");
});

test("the URL gives the nearest moment and the head, of this run only", () => {
  const run = {
    key: "runs/a@b-1@17.5",
    moments: [{ step: 25 }, { step: 50 }],
  } as any;
  const own = "?run=runs%2Fa%40b-1&moment=48&head=1.2";
  assert.deepEqual(addressed(run, own), { at: 1, head: { layer: 1, head: 2 } });
  const none = { at: null, head: null };
  assert.deepEqual(addressed(run, "?run=runs%2Fother&moment=48&head=1.2"), none);
  assert.deepEqual(addressed(run, "?moment=-1&head=x.2"), none);
});

test("the compared runs are a CSV file, without a formula in a name", () => {
  const row = {
    settings: "seed 1",
    mastered: 75,
    best_loss: 0.5,
    best_step: 90,
    bleu: null,
    perplexity: null,
  };
  assert.equal(
    comparisonCsv([{ name: "=1", ...row }]),
    "run,settings,steps_to_99_percent,best_held_out_loss,best_step,best_bleu\r\n" +
      "'=1,seed 1,75,0.5,90,\r\n",
  );
});
