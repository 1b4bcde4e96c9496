import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, writeAddress } from "../../../explorer/components/live/js/address.ts";

const MODELS: any[] = [{ name: "reverse", examples: [{ text: "1 2" }] }];

const read: (fragment: string) => import("../../../explorer/components/live/js/address.ts").Visit =
  (fragment) => readAddress(fragment, MODELS, ["en", "zh"]);

test("a link to a long text opens, one that no model reads is named", () => {
  const request = { model: "reverse", text: "x ".repeat(5000), pad: 1, forced: [] };
  const visit = read(writeAddress(request, {}, "zh"));
  assert.deepEqual(visit.request, request);
  assert.deepEqual([visit.language, visit.refused], ["zh", []]);
  const longer = read(writeAddress({ ...request, text: "x".repeat(20_001) }, {}, "en"));
  assert.deepEqual(longer.refused, ["text"]);
  assert.equal(longer.request.text, "1 2");
});
