import assert from "node:assert/strict";
import { test } from "node:test";
import {
  panelBoxes,
  valueAxis,
} from "../../../explorer/components/training_replay/js/curveAxes.ts";

const SIZE = { width: 600, height: 400 };

test("panels beside and below each other do not overlap and stay inside", () => {
  for (const columns of [1, 2, 3]) {
    const boxes = panelBoxes([{}, { weight: 2 }, {}], columns, SIZE);
    for (const [index, box] of boxes.entries()) {
      assert.ok(box.left >= 0 && box.left + box.width <= SIZE.width);
      assert.ok(box.top >= 0 && box.top + box.height <= SIZE.height);
      for (const other of boxes.slice(index + 1)) {
        const beside = box.left + box.width <= other.left;
        assert.ok(beside || box.top + box.height <= other.top);
      }
    }
  }
});

test("a panel's weight is its share of the height", () => {
  const [one, two] = panelBoxes([{}, { weight: 2 }], 1, SIZE);
  assert.ok(Math.abs(two.height - 2 * one.height) < 1e-9);
});

test("a range of its own, with percentages", () => {
  const axis = valueAxis({ range: [0, 1], ticks: [0, 0.99], percent: true }, []);
  assert.deepEqual(axis.ticktext, ["0 %", "99 %"]);
});

test("a score's axis ends at the next ceiling", () => {
  const ceilings = [25, 50, 100];
  assert.deepEqual(valueAxis({ ceilings }, [{ y: [3, null, 26] }]).tickvals, [0, 25, 50]);
  assert.deepEqual(valueAxis({ ceilings }, []).tickvals, [0, 12.5, 25]);
});

test("a logarithmic axis grows by whole decades and skips gaps", () => {
  const axis = valueAxis({ log: true }, [{ y: [0.02, null, 3] }]);
  assert.deepEqual(axis.range, [-2, 1]);
  assert.deepEqual(axis.ticktext, ["0.01", "0.1", "1", "10"]);
  assert.deepEqual(valueAxis({ log: true }, [{ y: [null, 0] }]).range, [-2, 1]);
});

test("any other axis starts at 0", () => {
  assert.deepEqual(valueAxis({}, [{ y: [1, 4] }]).range, [0, 4 * 1.08]);
  assert.deepEqual(valueAxis({}, []).range, [0, 1.08]);
});
