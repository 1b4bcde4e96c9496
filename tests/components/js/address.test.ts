import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, writeAddress } from "../../../explorer/components/live/js/address.ts";
import type { LiveModel } from "../../../explorer/components/live/js/liveModel.ts";
import { sharedExamples } from "./sharedExamples.ts";

const MODELS = [
  { name: "reverse", examples: [{ text: "7 3 9" }] },
  { name: "sort", examples: [{ text: "甲 乙" }] },
] as LiveModel[];

const read = (parameters: string) => readAddress(parameters, MODELS, ["en", "zh"]);

test("a link opens what it opens in the app, and what is refused is named", () => {
  for (const { query, request, view, refused } of sharedExamples("address").visits) {
    const visit = read(`${new URLSearchParams(query)}`);
    assert.deepEqual(visit, { request, view, refused, language: null }, JSON.stringify(query));
  }
});

test("a link to a long text opens, one that no model reads is named", () => {
  const request = {
    model: "reverse",
    text: "x ".repeat(5000),
    pad: 1,
    forced: [],
    interventions: [],
  };
  const visit = read(writeAddress(request, {}, "zh"));
  assert.deepEqual(visit.request, request);
  assert.deepEqual([visit.language, visit.refused], ["zh", []]);
  const longer = read(writeAddress({ ...request, text: "x".repeat(20_001) }, {}, "en"));
  assert.deepEqual(longer.refused, ["text"]);
  assert.equal(longer.request.text, "7 3 9");
});
