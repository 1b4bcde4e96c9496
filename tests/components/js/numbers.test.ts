import assert from "node:assert/strict";
import { test } from "node:test";
import { percent, shortNumber, signedNumber } from "../../../explorer/components/dom/js/numbers.ts";
import {
  type CellNumbers,
  printCell,
  printMasked,
} from "../../../explorer/components/inside/js/equationDigits.ts";
import {
  decimal,
  printedPower,
  printedWeight,
} from "../../../explorer/components/inside/js/printedNumbers.ts";
import { percentOfOthers } from "../../../explorer/components/player/js/otherCandidates.ts";
import { sharedExamples } from "./sharedExamples.ts";

const examples: Record<string, [number | null, string][]> = sharedExamples("number");
const calculations: {
  power: [number, string][];
  weight: [number, string][];
  cells: {
    numbers: Omit<CellNumbers, "sum"> & { total: number; masked?: boolean };
    texts: Record<string, string>;
  }[];
} = sharedExamples("calculation");

test("a share is written as in the tables", () => {
  for (const [share, text] of examples.percent) {
    assert.equal(percent(share).replaceAll("\u00a0", " "), text);
  }
});

test("a number and a difference are written as in the tables", () => {
  for (const [value, text] of examples.short_number) assert.equal(shortNumber(value), text);
  for (const [value, text] of examples.signed_number) assert.equal(signedNumber(value), text);
});

test("a number of a calculation is written as in a lesson", () => {
  for (const [value, text] of examples.calculated) assert.equal(decimal(Number(value)), text);
});

test("powers and weights are written as in a lesson", () => {
  for (const [value, text] of calculations.power) assert.equal(printedPower(value).text, text);
  for (const [value, text] of calculations.weight) assert.equal(printedWeight(value).text, text);
});

test("the calculation of a cell is written as in a lesson", () => {
  for (const { numbers, texts } of calculations.cells) {
    const cell = { ...numbers, sum: numbers.total };
    const masked = { largest: { text: "−∞" }, power: { text: "0" }, weight: { text: "0" } };
    const found = numbers.masked
      ? { ...printMasked(cell), ...masked, sum: printedPower(cell.sum) }
      : printCell(cell);
    const { product, score, largest, power, sum, weight } = found;
    const written = { product, score, largest, power, total: sum, weight };
    for (const [name, { text }] of Object.entries(written)) assert.equal(text, texts[name], name);
  }
});

test("tokens that are not listed have a share, even if those listed add up to 1", () => {
  assert.equal(percentOfOthers([0.75, 0.125]), "12.5\u00a0%");
  for (const listed of [[1, 1e-9], [0.5, 0.5], [1 - 1e-8]])
    assert.equal(percentOfOthers(listed), "<\u00a00.0001\u00a0%");
});
