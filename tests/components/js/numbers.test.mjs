import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { shortNumber, signedNumber } from "../../../explorer/components/head_views/js/numbers.js";
import { decimal, power } from "../../../explorer/components/inside/js/numbers.js";
import { percent } from "../../../explorer/components/shared/js/numbers.js";

const file = new URL("../../support/number_examples.json", import.meta.url);
/** @type {Record<string, [number | null, string][]>} */
const examples = JSON.parse(readFileSync(file, "utf8"));

test("a share is written as in the tables", () => {
  for (const [share, text] of examples.percent) {
    if (share !== null) assert.equal(percent(share).replaceAll("\u00a0", " "), text);
  }
});

test("a number and a difference are written as in the tables", () => {
  for (const [value, text] of examples.short_number) assert.equal(shortNumber(value), text);
  for (const [value, text] of examples.signed_number) assert.equal(signedNumber(value), text);
});

test("a number of a calculation is written as in a lesson", () => {
  for (const [value, text] of examples.calculated) assert.equal(decimal(Number(value)), text);
  for (const [value, text] of examples.power) assert.equal(power(Number(value)), text);
});
