import assert from "node:assert/strict";
import { test } from "node:test";
import { csvCell } from "../../../explorer/components/dom/js/csv.ts";

test("a formula gets a quote in front", () => {
  const formulas = [
    "=1+1",
    "+1",
    "-1",
    "@A",
    "\t=1",
    "＝1",
    "＋1",
    "－1",
    "＠A",
    "﹦1",
    "−1",
    " =1",
  ];
  const hidden = [
    "\u3000=1",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
    "\u202e=1",
    "\ufe0f=1",
    "\u3164=1",
  ];
  for (const text of [...formulas, ...hidden]) assert.equal(csvCell(text), `'${text}`);
  assert.equal(csvCell("\r=1"), '"\'\r=1"');
});

test("other cells stay, quoted where CSV needs it", () => {
  for (const text of ["", " ", "a=1", "甲", "▁the", "<eos>", "1-2"])
    assert.equal(csvCell(text), text);
  assert.equal(csvCell("a,b"), '"a,b"');
  assert.equal(csvCell('c"d'), '"c""d"');
});
