import assert from "node:assert/strict";
import { test } from "node:test";
import { csvCell } from "../../../explorer/components/dom/js/csv.ts";
import { sharedExamples } from "./sharedExamples.ts";

test("a cell is written as in the tables of the app", () => {
  for (const [text, cell] of sharedExamples("csv")) assert.equal(csvCell(text), cell);
});
