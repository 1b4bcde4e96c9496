import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestLanguage } from "../../../explorer/components/live/js/languages.ts";

const LANGUAGES = ["en", "zh", "pt-BR", "fil"];

for (const [tag, nearest] of [
  ["en", "en"],
  ["en-GB", "en"],
  ["zh-TW", "zh"],
  ["ZH-hans-cn", "zh"],
  ["pt-br", "pt-BR"],
  ["pt-PT", "pt-BR"],
  ["fil-PH", "fil"],
  ["fi-FI", undefined],
  ["", undefined],
]) {
  test(`a browser in ${tag} is answered in ${nearest}`, () => {
    assert.equal(nearestLanguage(String(tag), LANGUAGES), nearest);
  });
}
